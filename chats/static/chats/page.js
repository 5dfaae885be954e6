// Wires the parts of the page together.

import * as actions from "./actions.js";
import { ChatList } from "./chat_list.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import "./drawer.js";
import { toTheEnd } from "./following.js";
import * as notice from "./notice.js";
import * as places from "./places.js";
import "./preview.js";
import * as thread from "./thread.js";
import { gettext } from "./words.js";

const TITLED_MS = 4000; // a chat model gives a new chat its title a moment after the answer
const OFFLINE = gettext("You are offline. What you type is kept.");
const SITE = "Fastrag Site";
const tabs = new BroadcastChannel("fastrag-chats");
let titling = 0;
const announcer = document.getElementById("announcer");

const conversation = new Conversation(document.body.dataset.chat || null, {
  announce: (words) => (announcer.textContent = words),
  onStarted: opened,
  onChanged: changed,
});
const composer = new Composer(conversation.chatId, {
  onAsk: (text) => conversation.ask(text),
  onStop: () => conversation.stop(),
});
conversation.composer = composer;
const chats = new ChatList({
  currentId: () => conversation.chatId,
  onRenamed: named,
  onDeleted: (id) => {
    if (id === conversation.chatId) window.location.assign(places.start);
  },
});
chats.onChanged = (id) => tabs.postMessage({ chat: id });

// Where the browser has no service workers, an answer ends with its page.
navigator.serviceWorker?.register("/worker.js").catch(() => {});
thread.prepare();
actions.listen(conversation);
conversation.watch();
chats.refresh();
if (places.embedded) conversation.refresh().then(toTheEnd); // the server could not know whose it is
else if (conversation.chatId) toTheEnd();

tabs.addEventListener("message", ({ data }) => {
  listed();
  if (data.chat === conversation.chatId) conversation.refresh();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  chats.refresh();
  conversation.refresh();
});
window.addEventListener("offline", () => {
  if (!conversation.asking) notice.show(OFFLINE);
});
window.addEventListener("online", () => {
  notice.hideIf(OFFLINE);
  chats.refresh();
  conversation.refresh();
});
window.addEventListener("popstate", () => window.location.reload());
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus({ preventScroll: true });
});
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

/** A new chat has its address from the first moment, so that a reload finds it. */
function opened(chatId) {
  window.history.pushState(null, "", places.chat(chatId));
  document.body.dataset.chat = chatId;
  document.getElementById("welcome").hidden = true;
  for (const link of document.querySelectorAll("[data-export]")) {
    link.href = `/api/chats/${chatId}/export?as=${link.dataset.export}`;
  }
  document.getElementById("exports")?.removeAttribute("hidden");
  tabs.postMessage({ chat: chatId });
}

function changed() {
  listed();
  tabs.postMessage({ chat: conversation.chatId });
}

function listed() {
  chats.refresh();
  clearTimeout(titling);
  titling = setTimeout(() => chats.refresh(), TITLED_MS);
}

function named(title) {
  document.title = `${title} · ${SITE}`;
  document.getElementById("chat-title").textContent = title;
}
