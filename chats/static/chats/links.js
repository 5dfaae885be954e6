// Links to passages: the page's url with a text fragment that scrolls to them.

/** "" where the address is no web page. */
export function passageLink({ url, fragments }) {
  if (!isWeb(url)) return "";
  const texts = fragments.map(
    ({ start, end }) => "text=" + [start, end].filter(Boolean).map(encodeTerm).join(","),
  );
  if (!texts.length) return url;
  return `${url}${url.includes("#") ? "" : "#"}:~:${texts.join("&")}`;
}

/** "-" too, which would make a term a prefix or a suffix. */
export function encodeTerm(term) {
  return encodeURIComponent(term).replace(
    /[!'()*-]/g,
    (character) => "%" + character.charCodeAt(0).toString(16).toUpperCase(),
  );
}

export const isWeb = (url) => /^https?:\/\//i.test(url ?? "");

export const snippetOf = ({ fragments }) =>
  fragments.map(({ start, end }) => (end ? `${start} … ${end}` : start)).join(" ⋯ ");

export function siteOf({ url, site_name }) {
  if (site_name) return site_name;
  try {
    return new URL(url).hostname;
  } catch {
    return "";
  }
}
