// Finds the [n] of known sources in a text that comes in pieces; those in code stay text.

import { CodeBlocks, isUndecided } from "./code_blocks.js";

export class CitationScanner {
  #known;
  #blocks = new CodeBlocks();
  #held = ""; // might go on as a citation, a longer run of backticks, the beginning of a block
  #line = null; // what is known of the line, null before it has begun
  #inBlock = false; // the line is fenced or indented code
  #ticks = 0; // how many backticks opened the inline code that we are in

  constructor(numbers) {
    this.#known = new Set(numbers.map(String));
  }

  /** Parts of the text so far: strings, and `{number}` for each citation. */
  feed(text) {
    const parts = [];
    for (const piece of (this.#held + text).split(/(?<=\n)/)) {
      this.#held = this.#take(piece, parts);
    }
    return parts;
  }

  /** What was held back. */
  end() {
    const held = this.#held;
    this.#held = "";
    return held ? [held] : [];
  }

  /** A line, or as much of it as there is. Returns what has to wait for more. */
  #take(piece, parts) {
    const isWhole = piece.endsWith("\n");
    if (this.#line === null) {
      if (!isWhole && isUndecided(piece)) return piece;
      const { isCode, goesOn } = this.#blocks.begin(piece);
      this.#inBlock = isCode;
      if (!goesOn) this.#ticks = 0; // inline code ends with its paragraph
      this.#line = "";
    }
    const held = (!isWhole && !this.#inBlock && /(?:\[\d{0,4}|`+)$/.exec(piece)?.[0]) || "";
    const known = held ? piece.slice(0, -held.length) : piece;
    this.#line += known;
    if (this.#inBlock && known) parts.push(known);
    else this.#split(known, parts);
    if (isWhole) {
      if (!this.#inBlock) this.#blocks.end(this.#line);
      this.#line = null;
    }
    return held;
  }

  #split(text, parts) {
    let start = 0;
    for (const match of text.matchAll(/\[(\d{1,4})\]|`+/g)) {
      const [found, number] = match;
      if (!number) {
        if (!this.#ticks) this.#ticks = found.length;
        else if (this.#ticks === found.length) this.#ticks = 0;
      } else if (!this.#ticks && this.#known.has(number)) {
        if (match.index > start) parts.push(text.slice(start, match.index));
        parts.push({ number });
        start = match.index + found.length;
      }
    }
    if (start < text.length) parts.push(text.slice(start));
  }
}
