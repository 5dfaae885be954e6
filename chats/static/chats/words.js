// What the page says, in its language. The catalog is Django's own script, which the page loads
// before any module; without it the words are English.

const english = {
  gettext: (text) => text,
  ngettext: (one, many, count) => (count === 1 ? one : many),
};
const { gettext, ngettext } = globalThis.django ?? english;
export { gettext, ngettext };

/** "%(name)s" → values.name */
export const fill = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);

/** The server's refusals are in the catalog as well. */
export function wordsOf(error) {
  if (error.name === "ConnectionLost") return gettext("The connection was lost.");
  if (error.code === "UNKNOWN") return fill(gettext("The server answered with %(status)s."), error);
  return gettext(error.message);
}

/** What is wrong with each field, in one line. */
export const fieldsOf = (error) => Object.values(error.fields ?? {}).flat().map(gettext).join(" ");
