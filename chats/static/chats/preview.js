// What a citation or a source quotes, shown while it is pointed at or has the focus: at once how the
// passages begin and end, and a moment later their text.

import * as api from "./api.js";

const GAP = 8;
const REST_MS = 120; // that one passes over without asking
const texts = new Map(); // address → text
const box = document.getElementById("preview");
let owner = null;

for (const name of ["pointerover", "focusin"]) {
  document.addEventListener(name, (event) => {
    const target = event.target.closest?.("[data-snippet]");
    if (target && target !== owner && event.pointerType !== "touch") show(target);
    else if (!target && name === "pointerover" && !box.contains(event.target)) hide();
  });
}
document.addEventListener("focusout", hide);
document.addEventListener("scroll", hide, { passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});

function show(target) {
  hide();
  owner = target;
  for (const part of ["site", "title", "snippet"]) {
    const place = box.querySelector(`.preview-${part}`);
    place.textContent = target.dataset[part];
    place.hidden = !target.dataset[part];
  }
  box.hidden = false;
  target.setAttribute("aria-describedby", "preview");
  place(target.getClientRects()[0] ?? target.getBoundingClientRect());
  setTimeout(() => owner === target && quote(target), REST_MS);
}

/** The passages of a stored answer's source; without them the ends stay. */
async function quote(target) {
  const { chat } = document.body.dataset;
  const answer = target.closest("[data-message]")?.dataset.message;
  const number = Number.parseInt((target.querySelector(".source-number") ?? target).textContent, 10);
  if (!chat || !answer) return;
  const key = `${answer}/${number}`;
  if (!texts.has(key)) {
    const passages = await api.passages(chat, answer, number).catch(() => []);
    texts.set(key, passages.join(" ⋯ "));
  }
  if (owner !== target || !texts.get(key)) return;
  box.querySelector(".preview-snippet").textContent = texts.get(key);
  place(target.getClientRects()[0] ?? target.getBoundingClientRect());
}

function hide() {
  owner?.removeAttribute("aria-describedby");
  owner = null;
  box.hidden = true;
}

function place(around) {
  const { width, height } = box.getBoundingClientRect();
  const most = document.documentElement.clientWidth - width - GAP;
  const above = around.top - height - GAP;
  box.style.left = `${Math.max(GAP, Math.min(around.left, most))}px`;
  box.style.top = `${above >= GAP ? above : around.bottom + GAP}px`;
}
