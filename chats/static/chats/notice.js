// What went wrong, in words, with a way to try again; counts down where it has to wait.

import { fill, gettext } from "./words.js";

const box = document.getElementById("notice");
const words = box.querySelector("[data-words]");
const retry = box.querySelector("[data-retry]");
let timer = 0;
let action = null;

retry.addEventListener("click", () => {
  const chosen = action;
  hide();
  chosen?.();
});
box.querySelector("[data-dismiss]").addEventListener("click", () => {
  hide();
  document.getElementById("question").focus();
});

/** `wait`: seconds before `again` may be chosen. */
export function show(text, { again = null, wait = 0 } = {}) {
  hide();
  action = again;
  words.textContent = text;
  retry.hidden = !again;
  box.hidden = false;
  countDown(Math.ceil(wait));
}

/** Hide what says that, and nothing else. */
export function hideIf(text) {
  if (words.textContent === text) hide();
}

export function hide() {
  clearTimeout(timer);
  box.hidden = true;
  action = null;
}

function countDown(seconds) {
  const waiting = fill(gettext("Try again in %(seconds)s s"), { seconds });
  retry.disabled = seconds > 0;
  retry.textContent = seconds > 0 ? waiting : gettext("Try again");
  if (seconds > 0) timer = setTimeout(() => countDown(seconds - 1), 1000);
}
