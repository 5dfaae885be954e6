// Asks, shows what comes, and stays true to what the server has stored, whatever fails on the way.

import * as api from "./api.js";
import { toTheEnd } from "./following.js";
import { LiveAnswer } from "./live_answer.js";
import * as notice from "./notice.js";
import { ConnectionLost, Refused } from "./stream.js";
import * as thread from "./thread.js";
import { fieldsOf, gettext, wordsOf } from "./words.js";

const WATCH_MS = 1000;
const LONGEST_WAIT_S = 60;
const KEPT = gettext("Your question is kept.");
const LOST = gettext("The connection was lost. What was said so far stays here.");
const STILL_WRITING = gettext(
  "An answer is still being written. Your question stays here until it is done.",
);
const GONE = gettext("This chat is not there any more.");
const NOT_LAID_OUT = gettext("The answer could not be laid out.");
const FINAL = new Set(["CHAT_FULL", "CHAT_NOT_FOUND", "VALIDATION_ERROR", "MESSAGE_NOT_FOUND"]);
const ENDED = {
  stop: gettext("The answer is ready."),
  length: gettext("The answer reached its longest length."),
  error: gettext("The answer failed."),
  interrupted: gettext("The answer was interrupted."),
};

export class Conversation {
  #abort = null; // of the stream that this page reads
  #accepted = false; // the server has begun to answer
  #unwanted = false; // to be stopped as soon as it has begun
  #pending = null; // {text, key} of a question that may or may not have arrived
  #watching = 0;
  #wait = 0; // seconds that the server asked for before the next look
  #gone = false; // the chat was deleted
  #untilShown = null; // the notice that holds until the thread is shown as it is stored
  #untilOver = null; // the notice that holds while another answer is being written

  constructor(chatId, { announce, onStarted, onChanged }) {
    Object.assign(this, { chatId, announce, onStarted, onChanged, composer: null });
  }

  get asking() {
    return this.#abort !== null;
  }

  async ask(text) {
    if (this.asking) {
      this.#untilOver = STILL_WRITING;
      notice.show(STILL_WRITING);
      return;
    }
    if (this.#pending?.text !== text) this.#pending = { text, key: api.newKey() };
    const live = new LiveAnswer(this.announce);
    const start = (event) => {
      this.#pending = null;
      this.composer.accepted(text, event.chat_id);
      thread.addExchange(text, live.element);
      toTheEnd();
      if (!this.chatId) this.#opened(event.chat_id);
    };
    const events = (signal) => api.question(this.chatId, text, this.#pending.key, signal);
    await this.#read(events, live, start, () => this.ask(text), KEPT);
  }

  /** Answer anew what this answer, or one that came in its place meanwhile, is for. */
  async regenerate(id) {
    if (this.asking) return;
    const live = new LiveAnswer(this.announce);
    const asked = thread.answerFor(id)?.dataset.message ?? id;
    const start = () => {
      const old = thread.answerFor(asked); // not the one that was clicked: it may have been replaced
      const hadFocus = old?.contains(document.activeElement);
      if (old) old.replaceWith(live.element);
      else thread.lastExchange().append(live.element);
      if (hadFocus) this.composer.stop.focus();
    };
    const events = (signal) => api.again(this.chatId, asked, signal);
    await this.#read(events, live, start, () => this.regenerate(asked), "");
  }

  async stop() {
    if (this.asking && !this.#accepted) {
      // The server has nothing to stop yet. Who asks twice need not wait for it.
      if (!this.chatId || this.#unwanted) this.#abort.abort();
      this.#unwanted = true;
      return;
    }
    try {
      await api.stop(this.chatId);
    } catch (error) {
      if (error instanceof ConnectionLost) this.#abort?.abort();
      else if (error.code !== "NOT_RUNNING") notice.show(wordsOf(error));
      this.refresh();
    }
  }

  /** Show what the server has. False where it does not tell now, and may tell later. */
  async refresh() {
    if (!this.chatId || this.asking || this.#gone) return true;
    try {
      const html = await api.threadHtml(this.chatId);
      this.#wait = 0;
      if (!this.asking) {
        thread.replaceThread(html);
        notice.hideIf(this.#untilShown);
        this.watch();
      }
    } catch (error) {
      this.#wait = Math.min(error.retryAfter ?? 0, LONGEST_WAIT_S);
      if (error.status !== 404) return false;
      if (!this.asking) this.#isGone();
    }
    return true;
  }

  /** Follow an answer that is written for another tab, or whose stream was lost. */
  watch() {
    clearTimeout(this.#watching);
    const running = thread.isRunning();
    this.composer.busy(running || this.asking);
    if (!running) notice.hideIf(this.#untilOver);
    if (!running || this.asking) return;
    this.#watching = setTimeout(async () => {
      if (!(await this.refresh())) this.watch();
      else if (!thread.isRunning()) this.onChanged();
    }, Math.max(WATCH_MS, this.#wait * 1000));
  }

  /** What is shown stays to be read and copied; nothing more will come. */
  #isGone() {
    this.#gone = true;
    thread.endRunning();
    this.watch();
    notice.show(GONE);
  }

  async #read(events, live, onStart, again, kept) {
    notice.hide();
    this.#abort = new AbortController();
    this.#accepted = this.#unwanted = false;
    this.composer.busy(true);
    let answerId = null;
    let reason = null;
    let problem = null;
    try {
      for await (const event of events(this.#abort.signal)) {
        if (event.event === "message_start") {
          answerId = event.message_id;
          this.#accepted = true;
          onStart(event);
          live.searching();
          if (this.#unwanted) this.stop();
        } else if (event.event === "sources") live.sources(event.sources);
        else if (event.event === "delta" && event.delta.type === "text") live.text(event.delta.text);
        else if (event.event === "message_end") reason = event.finish_reason;
      }
    } catch (error) {
      problem = error;
    }
    this.#abort = null;
    this.composer.busy(false);
    notice.hideIf(this.#untilOver);
    if (answerId) {
      live.end();
      await this.#settled(live, answerId, reason);
    } else if (problem) this.#refused(problem, again, kept);
  }

  async #settled(live, answerId, reason) {
    if (reason === null) {
      await this.#lost();
      return;
    }
    try {
      thread.replaceAnswer(live.element, await api.answerHtml(this.chatId, answerId));
    } catch (error) {
      if (error.status !== 404 || !(await this.refresh())) {
        this.#unshown([reason !== "stop" && ENDED[reason], NOT_LAID_OUT], () => this.refresh());
      }
    }
    if (!this.#gone) this.announce(ENDED[reason] ?? ENDED.stop);
    this.onChanged();
  }

  async #lost() {
    if (await this.refresh()) {
      this.onChanged();
      return;
    }
    this.#unshown([LOST], () => this.#lost());
  }

  #unshown(words, again) {
    this.#untilShown = words.filter(Boolean).join(" ");
    notice.show(this.#untilShown, { again });
  }

  #refused(problem, again, kept) {
    if (problem instanceof Refused) {
      const words = [wordsOf(problem), fieldsOf(problem), kept].filter(Boolean).join(" ");
      notice.show(words, {
        again: FINAL.has(problem.code) ? null : again,
        wait: problem.retryAfter ?? 0,
      });
      if (problem.code === "CHAT_BUSY") {
        this.#untilOver = words;
        this.refresh();
      }
    } else if (problem instanceof ConnectionLost) {
      notice.show([gettext("The server cannot be reached."), kept].join(" "), { again });
    } else if (problem.name !== "AbortError") {
      notice.show([gettext("Something went wrong in this page."), kept].join(" "), { again });
      console.error(problem);
    }
  }

  #opened(chatId) {
    this.chatId = chatId;
    this.onStarted(chatId);
  }
}
