// Where a question is typed. The draft of each chat outlives reloads, and is forgotten only once the
// server has accepted it. Each tab has its own; where it has none, the last one of any tab is taken.

import * as notice from "./notice.js";
import { fill, gettext } from "./words.js";

export class Composer {
  #chatId;
  #longest;
  #tooLong;
  #wasTooLong = false;

  constructor(chatId, { onAsk, onStop }) {
    this.form = document.getElementById("composer");
    this.input = document.getElementById("question");
    this.send = document.getElementById("send");
    this.stop = document.getElementById("stop");
    this.#chatId = chatId;
    this.#longest = Number(this.input.dataset.longest);
    const words = gettext("A question has at most %(longest)s characters. Yours is longer.");
    this.#tooLong = fill(words, { longest: this.#longest });
    this.input.value ||= recall(this.#name);
    this.#changed();
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#isTooLong) notice.show(this.#tooLong);
      else if (this.text.trim()) onAsk(this.text);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.input.addEventListener("input", () => {
      keep(this.#name, this.text);
      this.#changed();
    });
    this.stop.addEventListener("click", onStop);
    this.send.disabled = false; // before this the browser itself would send the form, and lose the text
  }

  get text() {
    return this.input.value;
  }

  set text(text) {
    this.input.value = text;
    keep(this.#name, text);
    this.#changed();
  }

  get #name() {
    return `fastrag-draft:${this.#chatId || "new"}`;
  }

  /** The question was accepted. What was typed since stays. */
  accepted(question, chatId) {
    const rest = this.text === question ? "" : this.text;
    this.text = "";
    this.#chatId = chatId;
    this.text = rest;
  }

  busy(busy) {
    const hadFocus = [this.send, this.stop].includes(document.activeElement);
    this.send.hidden = busy;
    this.stop.hidden = !busy;
    if (hadFocus) (busy ? this.stop : this.send).focus();
  }

  /** As the server counts. Nothing is cut: who pastes too much shall see that it is. */
  get #isTooLong() {
    return this.text.length > this.#longest && [...this.text.trim()].length > this.#longest;
  }

  #changed() {
    const isTooLong = this.#isTooLong;
    if (isTooLong && !this.#wasTooLong) notice.show(this.#tooLong);
    else if (!isTooLong) notice.hideIf(this.#tooLong);
    this.#wasTooLong = isTooLong;
    this.input.setAttribute("aria-invalid", String(isTooLong));
    this.input.style.height = "auto";
    this.input.style.height = `${this.input.scrollHeight}px`;
  }
}

function keep(name, text) {
  try {
    const own = sessionStorage.getItem(name);
    sessionStorage.setItem(name, text);
    if (text) localStorage.setItem(name, text);
    else if (localStorage.getItem(name) === own) localStorage.removeItem(name);
  } catch {
    // Storage is full or forbidden: the draft lives as long as the page.
  }
}

function recall(name) {
  try {
    return sessionStorage.getItem(name) ?? localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}
