// The list of chats: search, rename, delete. Titles are text, whatever they hold.

import * as api from "./api.js";
import { clone } from "./live_answer.js";
import * as places from "./places.js";
import * as visitor from "./visitor.js";
import { fieldsOf, fill, gettext, wordsOf } from "./words.js";

const SEARCH_MS = 200;
const list = document.getElementById("chat-list");
const note = document.getElementById("chat-list-note");
const more = document.getElementById("more-chats");
const search = document.getElementById("chat-search");
const dialog = document.getElementById("delete-dialog");

export class ChatList {
  #latest = 0;
  #pages = 1; // that are shown
  #words = "";
  #timer = 0;

  constructor({ currentId, onRenamed, onDeleted }) {
    Object.assign(this, { currentId, onRenamed, onDeleted });
    search.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.refresh(), SEARCH_MS);
    });
    more.addEventListener("click", () => this.#showMore());
    list.addEventListener("click", (event) => {
      const row = event.target.closest(".chat-row");
      if (event.target.closest("[data-rename]")) this.#beginRename(row);
      if (event.target.closest("[data-delete]")) this.#delete(row);
    });
    list.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#rename(event.target.closest(".chat-row"));
    });
    list.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && event.target.closest(".rename")) {
        event.stopPropagation();
        endRename(event.target.closest(".chat-row"));
      }
    });
  }

  async refresh() {
    if (list.querySelector(".rename:not([hidden])")) return; // not under a hand
    const words = search.value.trim();
    if (words !== this.#words) this.#pages = 1;
    this.#words = words;
    await this.#load();
  }

  async #showMore() {
    const before = list.children.length;
    this.#pages += 1;
    if (!(await this.#load())) this.#pages -= 1; // the next press asks for the same page
    list.children[before]?.querySelector("a").focus();
  }

  /** False where the server did not answer. */
  async #load() {
    const turn = ++this.#latest;
    const found = [];
    let url = `/api/chats${this.#words ? `?search=${encodeURIComponent(this.#words)}` : ""}`;
    try {
      for (let page = 0; url && page < this.#pages; page += 1) {
        const { results, next } = await api.chats(url);
        found.push(...results);
        url = next;
      }
    } catch (error) {
      visitor.refused(error);
      if (turn === this.#latest) say(gettext("Your chats cannot be loaded just now."));
      return false;
    }
    if (turn !== this.#latest) return true;
    const rows = new Map([...list.children].map((row) => [row.dataset.id, row]));
    arrange(found.map((chat) => this.#row(rows.get(chat.id) ?? clone("chat-template"), chat)));
    more.hidden = !url;
    const nothing = this.#words
      ? gettext("No chat holds these words.")
      : gettext("Your chats appear here.");
    say(list.children.length ? "" : nothing);
    return true;
  }

  #row(row, { id, title }) {
    row.dataset.id = id;
    const link = row.querySelector("a");
    link.href = places.chat(id);
    if (link.textContent !== title) name(row, title);
    const isCurrent = id === this.currentId();
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (isCurrent) this.onRenamed(title);
    return row;
  }

  #beginRename(row) {
    const form = row.querySelector(".rename");
    const input = form.querySelector("input");
    row.classList.add("renaming");
    form.hidden = false;
    input.value = row.querySelector("a").textContent;
    input.select();
    input.focus();
  }

  async #rename(row) {
    const title = row.querySelector(".rename input").value;
    try {
      await api.rename(row.dataset.id, title);
    } catch (error) {
      say(`${wordsOf(error)} ${fieldsOf(error)}`); // what was typed stays
      return;
    }
    say("");
    name(row, title);
    endRename(row);
    if (row.dataset.id === this.currentId()) this.onRenamed(title);
    this.onChanged?.(row.dataset.id);
  }

  async #delete(row) {
    document.getElementById("delete-title").textContent = row.querySelector("a").textContent;
    dialog.returnValue = "";
    dialog.showModal();
    await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
    if (dialog.returnValue !== "delete") return;
    try {
      await api.remove(row.dataset.id);
    } catch (error) {
      if (error.status !== 404) {
        say(wordsOf(error));
        return;
      }
    }
    const neighbour = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    (neighbour?.querySelector("a") ?? search).focus();
    this.onChanged?.(row.dataset.id);
    this.onDeleted(row.dataset.id);
    if (!list.children.length) this.refresh();
  }
}

/** These rows, in this order. Those that are in their place stay, and so does the focus. */
function arrange(rows) {
  const held = list.contains(document.activeElement) ? document.activeElement : null;
  const place = [...list.children].indexOf(held?.closest(".chat-row"));
  for (const row of [...list.children]) if (!rows.includes(row)) row.remove();
  rows.forEach((row, at) => {
    if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null);
  });
  if (!held || held === document.activeElement) return;
  const next = held.isConnected ? held : (rows[place] ?? rows.at(-1))?.querySelector("a");
  (next ?? search).focus({ preventScroll: true });
}

function name(row, title) {
  row.querySelector("a").textContent = title;
  label(row.querySelector("[data-rename]"), gettext("Rename %(title)s"), title);
  label(row.querySelector("[data-delete]"), gettext("Delete %(title)s"), title);
}

function label(button, words, title) {
  button.setAttribute("aria-label", fill(words, { title }));
}

function endRename(row) {
  row.classList.remove("renaming");
  row.querySelector(".rename").hidden = true;
  row.querySelector("[data-rename]").focus();
}

function say(words) {
  note.textContent = words;
  note.hidden = !words;
}
