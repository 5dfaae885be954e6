// Where a question is typed. The draft of each chat outlives reloads, and is forgotten only once the
// server has accepted it.

export class Composer {
  #chatId;

  constructor(chatId, { onAsk, onStop }) {
    this.form = document.getElementById("composer");
    this.input = document.getElementById("question");
    this.send = document.getElementById("send");
    this.stop = document.getElementById("stop");
    this.#chatId = chatId;
    this.input.value ||= recall(this.#name);
    this.#fit();
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.text.trim()) onAsk(this.text);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.input.addEventListener("input", () => {
      keep(this.#name, this.text);
      this.#fit();
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
    this.#fit();
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

  #fit() {
    this.input.style.height = "auto";
    this.input.style.height = `${this.input.scrollHeight}px`;
  }
}

function keep(name, text) {
  try {
    if (text) localStorage.setItem(name, text);
    else localStorage.removeItem(name);
  } catch {
    // Storage is full or forbidden: the draft lives as long as the page.
  }
}

function recall(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}
