// Bytes of a text/event-stream in, events out. Works in browsers and in Node.

import { ConnectionLost } from "./errors.js";

/** One event as it is framed; `data` is not parsed. */
export interface Frame {
  name: string;
  data: string;
}

// Far above any event of ours: what is longer is no stream of events.
const MOST_CHARS = 16 * 1024 * 1024;

/** However the bytes are cut. HTML standard, section 9.2.6. */
export class EventStreamDecoder {
  #utf8 = new TextDecoder();
  #line = ""; // the unfinished one
  #afterCr = false;
  #name = "";
  #data: string[] = [];
  #chars = 0; // of the unfinished event

  /** The events that these bytes complete. */
  feed(bytes: Uint8Array): Frame[] {
    let text = this.#utf8.decode(bytes, { stream: true });
    if (!text) return [];
    this.#chars += text.length;
    if (this.#afterCr && text[0] === "\n") text = text.slice(1); // the second half of a CRLF
    this.#afterCr = text ? text.endsWith("\r") : false;
    const lines = text.split(/\r\n|\r|\n/);
    lines[0] = this.#line + lines[0];
    this.#line = lines.pop() ?? "";
    const frames: Frame[] = [];
    for (const line of lines) this.#take(line, frames);
    if (this.#chars > MOST_CHARS) throw new ConnectionLost(undefined, "An event is too long.");
    return frames;
  }

  #take(line: string, frames: Frame[]): void {
    if (!line) {
      if (this.#data.length) {
        frames.push({ name: this.#name || "message", data: this.#data.join("\n") });
      }
      this.#name = "";
      this.#data = [];
      this.#chars = this.#line.length;
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value[0] === " ") value = value.slice(1);
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
    // Comments, id, retry and unknown fields say nothing to us.
  }
}
