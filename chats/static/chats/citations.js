// Finds the [n] of known sources in a text that comes in pieces; those in code stay text.

const FENCE = 3;

export class CitationScanner {
  #known;
  #held = ""; // might go on as a citation, a longer run of backticks, a blank line
  #code = 0; // how many backticks opened the code that we are in

  constructor(numbers) {
    this.#known = new Set(numbers.map(String));
  }

  /** Parts of the text so far: strings, and `{number}` for each citation. */
  feed(text) {
    const whole = this.#held + text;
    const open = /(?:\[\d{0,4}|`+|\n\s*)$/.exec(whole);
    this.#held = open ? open[0] : "";
    return this.#split(open ? whole.slice(0, open.index) : whole);
  }

  /** What was held back. */
  end() {
    const held = this.#held;
    this.#held = "";
    return held ? [held] : [];
  }

  #split(text) {
    const parts = [];
    let start = 0;
    for (const match of text.matchAll(/\[(\d{1,4})\]|`+|\n\s*\n/g)) {
      const [found, number] = match;
      if (found[0] === "`") {
        if (!this.#code) this.#code = found.length;
        else if (this.#code === found.length) this.#code = 0;
      } else if (!number) {
        if (this.#code < FENCE) this.#code = 0; // inline code ends with its paragraph
      } else if (!this.#code && this.#known.has(number)) {
        if (match.index > start) parts.push(text.slice(start, match.index));
        parts.push({ number });
        start = match.index + found.length;
      }
    }
    if (start < text.length) parts.push(text.slice(start));
    return parts;
  }
}
