// One answer while it is being streamed: sources first, then text with chips, and what is happening.

import { CitationScanner } from "./citations.js";
import { following } from "./following.js";
import { isWeb, passageLink, siteOf, snippetOf } from "./links.js";
import { titleOf } from "./titles.js";
import { fill, gettext, ngettext } from "./words.js";

export class LiveAnswer {
  #scanner = new CitationScanner([]);
  #cited = new Map();
  #pieces = [];
  #frame = 0;

  constructor(announce) {
    this.announce = announce;
    this.element = clone("answer-template");
    this.content = this.element.querySelector(".content");
    this.status = this.element.querySelector("[data-status]");
    this.said = false;
  }

  happening(words) {
    this.status.textContent = words;
    this.announce(words);
  }

  searching() {
    this.happening(gettext("Searching the pages…"));
  }

  sources(sources) {
    for (const source of sources) {
      for (const number of source.positions) this.#cited.set(String(number), source);
    }
    this.#scanner = new CitationScanner([...this.#cited.keys()]);
    following(() => {
      const list = this.element.querySelector(".sources");
      list.append(...sources.map(sourceItem));
      list.hidden = !sources.length;
      const count = sources.length;
      const reading = ngettext("Reading %(count)s page…", "Reading %(count)s pages…", count);
      this.happening(count ? fill(reading, { count }) : gettext("No page fits; answering…"));
    });
  }

  text(text) {
    if (!this.said) {
      this.said = true;
      this.happening(gettext("Answering…"));
    }
    this.#pieces.push(...this.#scanner.feed(text));
    this.#frame ||= requestAnimationFrame(() => this.#show());
  }

  /** Everything said is on the page; nothing more will come. */
  end() {
    this.#pieces.push(...this.#scanner.end());
    cancelAnimationFrame(this.#frame);
    this.#show();
    this.element.removeAttribute("aria-busy");
    this.element.querySelector(".status").hidden = true;
    this.element.classList.remove("live");
  }

  #show() {
    this.#frame = 0;
    const pieces = this.#pieces.splice(0);
    following(() => {
      for (const piece of pieces) {
        const last = this.content.lastChild;
        if (typeof piece !== "string") this.#cite(piece.number);
        else if (last?.nodeType === Node.TEXT_NODE) last.appendData(piece);
        else this.content.append(piece);
      }
    });
  }

  /** Beside the word before it: a chip begins no line. */
  #cite(number) {
    const last = this.content.lastChild;
    if (last?.data?.endsWith(" ")) last.replaceData(last.length - 1, 1, "\u00a0");
    this.content.append(this.#chip(number));
  }

  #chip(number) {
    const source = this.#cited.get(number);
    const href = passageLink(source);
    const chip = document.createElement(href ? "a" : "span");
    chip.className = "chip";
    chip.textContent = number;
    if (href) {
      Object.assign(chip, { href, target: "_blank", rel: "noopener noreferrer nofollow" });
      const about = { number, title: titleOf(source) };
      chip.setAttribute("aria-label", fill(gettext("Source %(number)s: %(title)s"), about));
    }
    return describe(chip, source);
  }
}

function sourceItem(source) {
  const item = clone("source-template");
  const card = item.querySelector(".source");
  const href = passageLink(source);
  if (href) card.href = href;
  else card.tabIndex = 0;
  describe(card, source);
  card.querySelector(".source-site").textContent = siteOf(source);
  card.querySelector(".source-title").textContent = titleOf(source);
  card.querySelector(".source-number").textContent = source.positions.join(", ");
  const icon = card.querySelector("img");
  if (isWeb(source.favicon_url)) icon.src = source.favicon_url;
  else icon.remove();
  return item;
}

function describe(element, source) {
  Object.assign(element.dataset, {
    title: titleOf(source),
    site: siteOf(source),
    snippet: snippetOf(source),
  });
  return element;
}

export function clone(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}
