// The requests of the page: the API's routes and the page's own fragments.

import { ask, send } from "./stream.js";
import { visitor } from "./visitor.js";

const token = document.querySelector('meta[name="csrf-token"]')?.content;
const headers = { ...(token && { "X-CSRFToken": token }), ...visitor };
const inChat = (chatId) => `/api/chats/${encodeURIComponent(chatId)}`;
const ofMessage = (chatId, id) => `${inChat(chatId)}/messages/${encodeURIComponent(id)}`;

export const question = (chatId, content, key, signal) =>
  ask(chatId ? `${inChat(chatId)}/messages` : "/api/chats", {
    body: { content },
    headers: { ...headers, "Idempotency-Key": key },
    signal,
  });

export const again = (chatId, messageId, signal) =>
  ask(`${ofMessage(chatId, messageId)}/regenerate`, { headers, signal });

export const stop = (chatId) => send(`${inChat(chatId)}/stop`, { method: "POST", headers });

export const chats = async (query, signal) =>
  (await send(query, { headers, signal })).json();

export const rename = (chatId, title) =>
  send(inChat(chatId), { method: "PATCH", body: { title }, headers });

export const remove = (chatId) => send(inChat(chatId), { method: "DELETE", headers });

export const rate = (chatId, messageId, body) =>
  send(`${ofMessage(chatId, messageId)}/feedback`, { method: "PUT", body, headers });

export const unrate = (chatId, messageId) =>
  send(`${ofMessage(chatId, messageId)}/feedback`, { method: "DELETE", headers });

/** Parts of the page as the server renders them. */
export const threadHtml = (chatId) => partOfPage(`/chats/${chatId}/thread`);

export const answerHtml = (chatId, messageId) =>
  partOfPage(`/chats/${chatId}/answers/${messageId}`);

export const passages = async (chatId, messageId, number) => {
  const path = `/chats/${chatId}/answers/${messageId}/passages/${number}`;
  return (await (await send(path, { headers })).json()).passages;
};

const partOfPage = async (path) =>
  (await send(`${path}?lang=${document.documentElement.lang}`, { headers })).text();

/** Also where the page is not served over TLS, and crypto.randomUUID is missing. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
