// Which lines of a Markdown text are code, fenced or indented, also in lists and quotes. Reads as
// CommonMark does, as far as that takes, and decides as soon as the beginning of a line tells.

const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3}(?:[-*+]|(\d{1,9})[.)]))( +|$)/;
const FENCE = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const HEADING = /^ {0,3}#{1,6}(?: |$)/;
const UNDERLINE = /^ {0,3}(?:=+|-+) *$/;
const INDENTED = /^ {4,}\S/;
const MARKS = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t][ \t>]*)*/; // of quotes and list items
// Ends of a line so far that can still turn out to be one thing or another.
const UNDECIDED =
  /^(?:\+|-[- ]*|\*[* ]*|_[_ ]*|=+|#{1,6}|\d{1,9}[.)]?|`{1,2}|`{3,}[^`]*|~{1,2}|~{3,}.*)?$/;

export const isUndecided = (line) => UNDECIDED.test(line.replace(MARKS, ""));

export class CodeBlocks {
  #around = []; // the containers: ">", or the indent of a list item's content
  #fence = ""; // that opened the code
  #inParagraph = false;
  #rest = ""; // of the line, within its containers
  #begun = 0; // how long their marks are

  /** A line begins so. Is it code? Does it go on with the paragraph of the line before? */
  begin(line) {
    const whole = expanded(line);
    const depth = this.#goOn(whole);
    if (this.#fence && depth === this.#around.length) {
      if (this.#closesFence()) this.#fence = "";
      return { isCode: true, goesOn: false };
    }
    this.#fence = "";
    const isBlank = !this.#rest.trim();
    if (depth < this.#around.length && (isBlank || !this.#isLazy())) {
      this.#around.length = depth;
      this.#inParagraph = false;
    }
    const before = this.#inParagraph;
    this.#openContainers();
    this.#begun = whole.length - this.#rest.length;
    const opening = FENCE.exec(this.#rest);
    if (opening) this.#fence = opening[1] ?? opening[2];
    const isCode = !!opening || (!this.#inParagraph && INDENTED.test(this.#rest));
    const goesOn = before && this.#inParagraph;
    this.#inParagraph = !isCode && !!this.#rest.trim();
    return { isCode, goesOn };
  }

  /** The same line, whole: after a heading or a rule there is no paragraph to go on with. */
  end(line) {
    const rest = expanded(line).slice(this.#begun);
    if ([RULE, HEADING, UNDERLINE].some((each) => each.test(rest))) this.#inParagraph = false;
  }

  /** How many of the containers hold this line too. */
  #goOn(line) {
    this.#rest = line;
    let depth = 0;
    for (const container of this.#around) {
      if (container === ">") {
        const mark = QUOTE.exec(this.#rest);
        if (!mark) break;
        this.#rest = this.#rest.slice(mark[0].length);
      } else if (this.#rest.trim()) {
        if (!this.#rest.startsWith(" ".repeat(container))) break;
        this.#rest = this.#rest.slice(container);
      }
      depth += 1;
    }
    return depth;
  }

  /** Text without the marks of its containers goes on with their paragraph. */
  #isLazy() {
    const opens = [QUOTE, ITEM, FENCE, HEADING, RULE].some((each) => each.test(this.#rest));
    return this.#inParagraph && !opens;
  }

  #interrupts([mark, , number]) {
    return this.#rest.length > mark.length && (number === undefined || Number(number) === 1);
  }

  #openContainers() {
    for (;;) {
      const quote = QUOTE.exec(this.#rest);
      const item = !RULE.test(this.#rest) && ITEM.exec(this.#rest);
      if (quote) {
        this.#around.push(">");
        this.#rest = this.#rest.slice(quote[0].length);
      } else if (item && (!this.#inParagraph || this.#interrupts(item))) {
        const [all, mark, , spaces] = item;
        const isBare = all.length === this.#rest.length || spaces.length > 4;
        const indent = isBare ? mark.length + 1 : all.length;
        this.#around.push(indent);
        this.#rest = this.#rest.slice(indent);
      } else return;
      this.#inParagraph = false;
    }
  }

  #closesFence() {
    const mark = this.#rest.trim();
    const isLong = mark.length >= this.#fence.length && !INDENTED.test(this.#rest);
    return isLong && mark === this.#fence[0].repeat(mark.length);
  }
}

/** Tabs among the marks become the spaces that they stand for. */
function expanded(line) {
  return line.trimEnd().replace(MARKS, (marks) => {
    let wide = "";
    for (const each of marks) wide += each === "\t" ? " ".repeat(4 - (wide.length % 4)) : each;
    return wide;
  });
}
