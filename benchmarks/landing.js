// Runs in the page that a link has opened: where the browser found each text, and where the cited
// passages stand, both as places in the ink of the page (all it shows, without white space).
async ({ passages, cited, patience }) => {
  const BLANK = /[\s\p{Cc}\p{Cf}\p{Z}]+/gu;
  const TELLING = 12; // characters: a shorter part may stand elsewhere by chance
  const inkOf = (text) => text.replace(BLANK, "");
  const soon = () => new Promise((resolve) => setTimeout(resolve, patience));

  /** The ranges that the browser found and highlights, in the order of the link. */
  async function found() {
    const items = document.fragmentDirective?.items;
    if (!items) throw new Error("this Chromium does not tell what it highlights");
    const ranges = items.map((item) => item.getMatchingRange().catch(() => null));
    return Promise.all(ranges.map((range) => Promise.race([range, soon().then(() => null)])));
  }

  /** Two frames in the same place: what was scrolled to has come to rest. */
  async function rest() {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve(scrollY)));
    const until = performance.now() + patience;
    for (let last = NaN, still = 0; still < 3 && performance.now() < until; ) {
      const now = await frame();
      still = now === last ? still + 1 : 0;
      last = now;
    }
  }

  function isShown(node) {
    const box = document.createRange();
    box.selectNodeContents(node);
    return box.getClientRects().length > 0 && getComputedStyle(node.parentElement).visibility === "visible";
  }

  /** The text nodes that show, each with where its ink begins; the ink of all of them. */
  function readPage() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const nodes = [];
    let ink = "";
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = inkOf(node.data);
      if (!text || node.parentElement.closest("select, textarea, script, style, rt, rp") || !isShown(node)) continue;
      nodes.push({ node, at: ink.length });
      ink += text;
    }
    return { nodes, ink };
  }

  function placeOf(range, { nodes, ink }) {
    const side = (container, offset) => {
      for (const { node, at } of nodes) {
        if (node === container) return at + inkOf(node.data.slice(0, offset)).length;
        const point = document.createRange();
        point.setStart(container, offset);
        if (point.comparePoint(node, 0) > 0) return at;
      }
      return ink.length;
    };
    return [side(range.startContainer, range.startOffset), side(range.endContainer, range.endOffset)];
  }

  /** The passages' parts that are on the page: whole, or line by line, or word by word. */
  function partsOf(ink) {
    const isThere = (text) => text && ink.includes(text);
    return passages.flatMap((text, of) => {
      const whole = inkOf(text);
      if (isThere(whole)) return [{ of, text: whole }];
      const lines = text.split(/[\n\t]/).flatMap((line) => {
        const joined = inkOf(line);
        return isThere(joined) ? [joined] : line.split(/\s+/).map(inkOf).filter(isThere);
      });
      return lines.map((text) => ({ of, text }));
    });
  }

  /** Parts that there are once, the longest first, each where it fits between those before. */
  function placeAnchors(parts, ink) {
    const times = new Map();
    for (const { text } of parts) times.set(text, (times.get(text) ?? 0) + 1);
    const once = [...parts.entries()].filter(([, { text }]) => text.length >= TELLING && times.get(text) === 1);
    once.sort(([, one], [, other]) => other.text.length - one.text.length);
    const placed = []; // [index in parts, where], in order of both
    for (const [index, part] of once) {
      const here = ink.indexOf(part.text);
      if (ink.indexOf(part.text, here + 1) >= 0) continue;
      let [low, high] = [0, placed.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (placed[middle][0] < index) low = middle + 1;
        else high = middle;
      }
      const [before, after] = [placed[low - 1]?.[1] ?? -1, placed[low]?.[1] ?? ink.length];
      if (here <= before || here >= after) continue;
      placed.splice(low, 0, [index, here]);
      Object.assign(part, { anchor: true, first: here, last: here });
    }
  }

  /** What stands between two anchors: at the first place going forwards, the last going back. */
  function placeBetween(parts, ink, from, to) {
    let edge = from;
    for (const part of parts) {
      const here = ink.indexOf(part.text, edge);
      if (here < 0 || here + part.text.length > to) continue;
      part.first = here;
      edge = here + part.text.length;
    }
    edge = to;
    for (const part of parts.toReversed()) {
      const here = edge < part.text.length ? -1 : ink.lastIndexOf(part.text, edge - part.text.length);
      if (here >= from) part.last = edge = here;
    }
  }

  /**
   * Passages stand in the order of the page and apart from each other. What stands there more than
   * once lies between its neighbours, but there may be several places for it: `exact` is false.
   */
  function placesOfPassages({ ink }) {
    const parts = partsOf(ink);
    placeAnchors(parts, ink);
    let gap = [];
    let from = 0;
    for (const part of [...parts, { anchor: true, first: ink.length, text: "" }]) {
      if (!part.anchor) {
        gap.push(part);
        continue;
      }
      placeBetween(gap, ink, from, part.first);
      gap = [];
      from = part.first + part.text.length;
    }
    const places = passages.map(() => null);
    for (const { of, text, first, last } of parts) {
      if (first === undefined && last === undefined) continue;
      const low = Math.min(first ?? last, last ?? first);
      const high = Math.max(first ?? last, last ?? first);
      const place = (places[of] ??= { from: low, to: 0, exact: true });
      place.to = Math.max(place.to, high + text.length);
      place.exact &&= first === last;
    }
    return places;
  }

  const ranges = await found();
  await rest();
  const rects = ranges.map((range) => (range ? [...range.getClientRects()].map(({ x, y, width, height }) => [x, y, width, height]) : []));
  const scrolled = scrollY;
  const closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((details) => (details.open = true));
  const page = readPage();
  closed.forEach((details) => (details.open = false));
  const places = placesOfPassages(page);
  const at = (ink, isEnd) => {
    const { node, at } = page.nodes.findLast(({ at }) => (isEnd ? at < ink : at <= ink));
    let [offset, left] = [0, ink - at];
    for (const character of node.data) {
      if (!left && (isEnd || inkOf(character))) break;
      left -= inkOf(character).length;
      offset += character.length;
    }
    return [node, offset];
  };
  window.landed = {
    placeOf: (range) => placeOf(range, page),
    /** The range of a place, from its first to its last character. */
    rangeOf([from, to]) {
      const range = document.createRange();
      range.setStart(...at(from, false));
      range.setEnd(...at(to, true));
      return range;
    },
  };
  return {
    scrolled,
    rects,
    found: ranges.map((range) => range && placeOf(range, page)),
    texts: ranges.map((range) => range && range.toString()),
    cited: cited.map(([first, last]) => {
      const [from, to] = [places[first], places[last]];
      return from && to && { from: from.from, to: to.to, exact: from.exact && to.exact };
    }),
  };
}
