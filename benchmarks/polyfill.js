// Runs in a page that landing.js has read: where the polyfill finds what the link names, and by
// which terms it would name the cited passage itself. Places are those of landing.js.
async ({ directive, cited, patience }) => {
  const folder = "/text-fragments-polyfill/src";
  const matching = await import(`${folder}/text-fragment-utils.js`);
  const generating = await import(`${folder}/fragment-generation-utils.js`);
  generating.setTimeout(patience);
  const named = matching.parseFragmentDirectives(matching.getFragmentDirectives(`#${directive}`));
  const [text] = named.text.map((one) => matching.processTextFragmentDirective(one)[0]);
  const found = text ? window.landed.placeOf(text) : null;
  if (!cited) return { found, status: "UNPLACED", fragment: null };
  const made = generating.generateFragmentFromRange(window.landed.rangeOf(cited));
  const statuses = Object.entries(generating.GenerateFragmentStatus);
  const [status] = statuses.find(([, value]) => value === made.status);
  return { found, status, fragment: made.fragment ?? null };
}
