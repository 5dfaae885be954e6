// The exchanges on the page. Parts that the server rendered replace what differs, and nothing else.

import { following } from "./following.js";
import { clone } from "./live_answer.js";

const thread = document.getElementById("thread");
const shown = new WeakMap(); // section → the HTML that it was made from

export function prepare() {
  for (const section of thread.children) shown.set(section, section.outerHTML);
  enhance(thread);
}

export const lastExchange = () => thread.lastElementChild;

/** The answer that is shown now in the exchange that holds this one, be it as an earlier answer. */
export const answerFor = (id) =>
  thread
    .querySelector(`[data-message="${CSS.escape(id)}"]`)
    ?.closest(".exchange")
    .querySelector("article");

export const isRunning = () => thread.querySelector("[data-running]") !== null;

/** An answer that is shown as being written will not be written any more. */
export function endRunning() {
  for (const answer of thread.querySelectorAll("[data-running]")) {
    delete answer.dataset.running;
    answer.removeAttribute("aria-busy");
    answer.querySelector(".status").hidden = true;
  }
}

export function addExchange(question, answer) {
  const section = clone("exchange-template");
  section.querySelector("[data-question]").textContent = question;
  section.append(answer);
  thread.append(section);
  return section;
}

/** Show the thread as the server told it. */
export function replaceThread(html) {
  const fresh = [...parse(html).children];
  following(() => {
    fresh.forEach((section, place) => {
      const source = section.outerHTML;
      const old = thread.children[place];
      if (old && shown.get(old) === source) return;
      if (old?.querySelector(".comment:not([hidden])")) return; // somebody types in it
      enhance(section);
      shown.set(section, source);
      if (old) old.replaceWith(section);
      else thread.append(section);
    });
    while (thread.children.length > fresh.length) thread.lastElementChild.remove();
  });
}

export function replaceAnswer(old, html) {
  const fresh = parse(html).firstElementChild;
  enhance(fresh);
  following(() => old.replaceWith(fresh));
  return fresh;
}

function parse(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

/** Code gets a button that copies it; wide code and tables can be reached with the keyboard. */
function enhance(root) {
  for (const code of root.querySelectorAll(".content pre")) {
    if (code.parentElement.classList.contains("code")) continue;
    const frame = document.createElement("div");
    frame.className = "code";
    code.tabIndex = 0;
    code.replaceWith(frame);
    frame.append(code, clone("copy-template"));
  }
  for (const table of root.querySelectorAll(".content table")) table.tabIndex = 0;
}
