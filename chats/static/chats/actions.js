// The buttons of answers: copy, answer again, feedback. One listener for all of them.

import * as api from "./api.js";
import { copy } from "./copying.js";
import { gettext, wordsOf } from "./words.js";

const SAID_MS = 4000;

export function listen(conversation) {
  const thread = document.getElementById("thread");
  thread.addEventListener("click", (event) => {
    const code = event.target.closest("[data-copy-code]");
    if (code) copyCode(code);
    const button = event.target.closest("[data-act]");
    if (button) act(conversation, button, button.closest("article"));
  });
  thread.addEventListener("submit", (event) => {
    event.preventDefault();
    comment(conversation, event.target, event.target.closest("article"));
  });
  thread.addEventListener("keydown", (event) => {
    const form = event.key === "Escape" && event.target.closest(".comment");
    if (form) close(form);
  });
  // Icons that do not load leave their place empty; load events do not bubble.
  thread.addEventListener("error", (event) => event.target.remove?.(), true);
}

async function act(conversation, button, article) {
  const name = button.dataset.act;
  if (name === "regenerate") conversation.regenerate(article.dataset.message);
  else if (name === "copy-text") await copied(article, plain(article));
  else if (name === "copy-markdown") await copied(article, article.dataset.markdown);
  else await rate(conversation, button, article);
}

async function copied(article, text) {
  say(article, await outcomeOf(copy(text)));
}

async function copyCode(button) {
  const text = button.parentElement.querySelector("pre").innerText;
  button.textContent = await outcomeOf(copy(text));
  setTimeout(() => (button.textContent = gettext("Copy")), SAID_MS);
}

const outcomeOf = (copying) =>
  copying.then(() => gettext("Copied"), () => gettext("Could not be copied"));

/** As it reads, numbers in brackets as they were written. */
function plain(article) {
  const content = article.querySelector(".content").cloneNode(true);
  for (const chip of content.querySelectorAll(".chip")) chip.textContent = `[${chip.textContent}]`;
  for (const button of content.querySelectorAll("button")) button.remove();
  content.className = "unseen content";
  document.body.append(content);
  const text = content.innerText.trim().replaceAll("\u00a0", " ");
  content.remove();
  return text;
}

async function rate(conversation, button, article) {
  const rating = button.dataset.act;
  const taken = button.getAttribute("aria-pressed") === "true";
  const id = article.dataset.message;
  try {
    if (taken) await api.unrate(conversation.chatId, id);
    else await api.rate(conversation.chatId, id, { rating });
  } catch (error) {
    say(article, wordsOf(error));
    return;
  }
  for (const name of ["up", "down"]) {
    const other = article.querySelector(`.actions [data-act="${name}"]`);
    other.setAttribute("aria-pressed", String(name === rating && !taken));
  }
  const form = article.querySelector(".comment");
  form.hidden = taken || rating !== "down";
  if (!form.hidden) form.querySelector("input").focus();
  say(article, taken ? gettext("Taken back") : gettext("Thank you"));
}

async function comment(conversation, form, article) {
  const body = { rating: "down", comment: form.querySelector("input").value };
  try {
    await api.rate(conversation.chatId, article.dataset.message, body);
    close(form);
    say(article, gettext("Thank you"));
  } catch (error) {
    say(article, wordsOf(error));
  }
}

function close(form) {
  form.hidden = true;
  form.closest("article").querySelector('.actions [data-act="down"]').focus();
}

function say(article, words) {
  const place = article.querySelector("[data-said]");
  place.textContent = words;
  document.getElementById("announcer").textContent = words;
  setTimeout(() => {
    if (place.textContent === words) place.textContent = "";
  }, SAID_MS);
}
