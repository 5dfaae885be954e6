// Keeps the end of the page in view while it grows, unless the reader has scrolled away.

const NEAR = 96;

export function following(change) {
  const page = document.documentElement;
  const atEnd = window.scrollY + window.innerHeight >= page.scrollHeight - NEAR;
  change();
  if (atEnd) toTheEnd();
}

export function toTheEnd() {
  window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}
