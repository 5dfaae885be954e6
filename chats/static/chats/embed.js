// The page in a frame: tells the site around it when to close, takes the focus when it is opened, and
// goes on with the chat that was open on the page before.

import * as api from "./api.js";
import { forget, keep, recall } from "./kept.js";
import * as places from "./places.js";

const OPEN_CHAT = "fastrag-open-chat";
const BUSY =
  "dialog[open], .chats.open, .rename:not([hidden]), .comment:focus-within, #preview:not([hidden])";
const close = () => window.parent.postMessage({ fastrag: "close" }, "*");

document.getElementById("close").addEventListener("click", close);
// Before anything else sees the key, so that what it closes is still open.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key === "Escape" && !document.querySelector(BUSY)) close();
  },
  true,
);
window.addEventListener("message", ({ source, data }) => {
  if (source === window.parent && data?.fastrag === "opened") {
    document.getElementById("question").focus();
  }
});
window.addEventListener("pagehide", remember);

const cameFromOutside = !document.referrer.startsWith(`${window.location.origin}/`);
const before = cameFromOutside && !openChat() && recall(OPEN_CHAT);
if (before) {
  api.threadHtml(before).then(
    () => window.location.replace(places.chat(before)),
    () => forget(OPEN_CHAT),
  );
}

function openChat() {
  return /\/chats\/([^/]+)$/.exec(window.location.pathname)?.[1] ?? null;
}

function remember() {
  const chatId = openChat();
  if (chatId) keep(OPEN_CHAT, chatId);
  else forget(OPEN_CHAT);
}
