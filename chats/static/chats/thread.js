// The exchanges on the page. Parts that the server rendered replace what differs, and nothing else.

import { following } from "./following.js";
import { clone } from "./live_answer.js";

const thread = document.getElementById("thread");
const shown = new WeakMap(); // answer → the HTML that it was made from
const FOCUSABLE = "a, button, summary, input, [tabindex='0']";

export function prepare() {
  for (const answer of thread.querySelectorAll("article")) shown.set(answer, answer.outerHTML);
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

/** Show the thread as the server told it. What has not changed stays: with its focus, its selection. */
export function replaceThread(html) {
  const fresh = [...parse(html).children];
  following(() => {
    fresh.forEach((section, place) => {
      const old = thread.children[place];
      if (old && questionIn(old) === questionIn(section)) {
        swap(old.querySelector("article"), section.querySelector("article"));
        return;
      }
      prepared(section.querySelector("article"));
      if (old) old.replaceWith(section);
      else thread.append(section);
    });
    while (thread.children.length > fresh.length) thread.lastElementChild.remove();
  });
}

export function replaceAnswer(old, html) {
  following(() => swap(old, parse(html).firstElementChild));
}

const questionIn = (section) => section.querySelector("[data-question]").textContent.trim();

function swap(old, fresh) {
  const source = fresh.outerHTML;
  if (shown.get(old) === source) return;
  if (old.querySelector(".comment:not([hidden])")) return; // somebody types in it
  prepared(fresh);
  if (goesOn(old, fresh) || old.isEqualNode(fresh)) {
    shown.set(old, source);
    return;
  }
  const held = old.contains(document.activeElement) ? document.activeElement : null;
  const twin = held && twinOf(held, old, fresh);
  const opened = old.querySelector(".earlier")?.open;
  old.replaceWith(fresh);
  if (opened) fresh.querySelector(".earlier")?.setAttribute("open", "");
  if (held) (twin ?? fresh).focus({ preventScroll: true });
}

/** An answer that is still being written gets what was said since. Whether it is then the same. */
function goesOn(old, fresh) {
  if (!("running" in old.dataset && "running" in fresh.dataset)) return false;
  const [before, now] = [old, fresh].map((answer) => answer.querySelector(".content"));
  if (now.textContent.startsWith(before.textContent)) {
    before.append(now.textContent.slice(before.textContent.length));
    before.normalize();
  }
  return old.isEqualNode(fresh);
}

/** What is in `fresh` the thing that has the focus in `old`. */
function twinOf(held, old, fresh) {
  const kind = ({ className, dataset }) => `${className} ${dataset.act}`;
  const alike = (root) =>
    [...root.querySelectorAll(FOCUSABLE)].filter((each) => kind(each) === kind(held));
  return alike(fresh)[alike(old).indexOf(held)];
}

function prepared(answer) {
  shown.set(answer, answer.outerHTML);
  enhance(answer);
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
