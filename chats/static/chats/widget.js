// A button and a panel on another site; the panel frames our page. The body of a function of
// `titles`: language → what the button says. Touches nothing of the site around it, and nothing of
// that site's styles reaches it.

const script = document.currentScript ?? document.querySelector('script[src*="/widget.js"]');
const site = new URL(script.src).origin;
const asked = script.dataset;
const language = [asked.lang, document.documentElement.lang, navigator.language]
  .map((tag) => (tag ?? "").split("-")[0].toLowerCase())
  .find((tag) => tag in titles);
const title = asked.title || titles[language] || titles.en;
const accent = /^#[0-9a-f]{6}$/i.test(asked.accent ?? "") ? asked.accent : "#0b57a4";
const theme = ["light", "dark"].includes(asked.theme) ? asked.theme : "light dark";
const side = asked.position === "left" ? "left" : "right";

const STYLE = `
:host { all: initial !important; position: fixed !important; z-index: 2147483647 !important;
  inset: auto ${side === "left" ? "auto 20px 20px" : "20px 20px auto"} !important;
  display: block !important; color-scheme: ${theme} !important; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
button { display: flex; align-items: center; gap: 10px; max-width: calc(100vw - 40px); margin: 0;
  padding: 12px 20px 12px 16px; border: 0; border-radius: 26px; background: ${accent};
  color: ${textOn(accent)}; font: 500 16px/24px system-ui, sans-serif; cursor: pointer;
  box-shadow: 0 4px 16px #0004; }
button span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
button:focus-visible { outline: 3px solid light-dark(#0b57a4, #8ab8f0); outline-offset: 3px; }
svg { flex: none; }
.panel { position: absolute; bottom: calc(100% + 14px); ${side}: 0; overflow: hidden;
  width: min(420px, calc(100vw - 40px)); height: min(660px, calc(100dvh - 110px));
  border: 1px solid light-dark(#dfe2e4, #343a41); border-radius: 14px;
  background: light-dark(#fdfdfc, #16181b); box-shadow: 0 12px 48px #0005; }
iframe { display: block; width: 100%; height: 100%; border: 0; }
@media (max-width: 540px), (max-height: 480px) {
  .panel { position: fixed; inset: 0; width: 100%; height: 100%; border: 0; border-radius: 0; }
}
@media print { :host { display: none !important; } }
`;

if (document.querySelector("fastrag-widget")) return;
const host = document.createElement("fastrag-widget");
const root = host.attachShadow({ mode: "open" });
const sheet = new CSSStyleSheet(); // the site's own policy may forbid style elements
sheet.replaceSync(STYLE);
root.adoptedStyleSheets = [sheet];
const landmark = element("div", { role: "complementary", "aria-label": title });
const panel = element("div", { id: "panel", role: "dialog", "aria-label": title, class: "panel" });
const button = element("button", {
  type: "button",
  "aria-expanded": "false",
  "aria-controls": "panel",
  "aria-haspopup": "dialog",
});
const words = element("span", {});
words.textContent = title;
button.append(icon(), words);
panel.hidden = true;
landmark.append(panel, button);
root.append(landmark);
let frame = null;

button.addEventListener("click", () => (panel.hidden ? open() : close()));
root.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !panel.hidden) close();
});
window.addEventListener("message", ({ origin, source, data }) => {
  if (origin !== site || !frame || source !== frame.contentWindow) return;
  if (data?.fastrag === "close") close();
});
if (document.body) show();
else document.addEventListener("DOMContentLoaded", show);

/** In the top layer, where the site around it can neither cover nor transform it. */
function show() {
  host.popover = "manual";
  document.body.append(host);
  host.showPopover?.();
}

function open() {
  panel.hidden = false;
  button.setAttribute("aria-expanded", "true");
  if (frame) {
    focus();
    return;
  }
  frame = element("iframe", { title, src: address(), allow: "clipboard-write" });
  frame.addEventListener("load", focus);
  panel.append(frame);
}

function close() {
  panel.hidden = true;
  button.setAttribute("aria-expanded", "false");
  button.focus();
}

function focus() {
  if (panel.hidden) return;
  frame.focus();
  frame.contentWindow.postMessage({ fastrag: "opened" }, site);
}

function address() {
  const look = new URLSearchParams();
  if (language) look.set("lang", language);
  if (theme !== "light dark") look.set("theme", theme);
  if (asked.accent) look.set("accent", accent.slice(1));
  if (asked.title) look.set("title", title);
  return `${site}/embed/?${look}`;
}

function element(name, attributes) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function icon() {
  const name = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(name, "svg");
  const path = document.createElementNS(name, "path");
  const drawn = { width: "22", height: "22", viewBox: "0 0 24 24", fill: "none", stroke: "currentColor" };
  for (const [key, value] of Object.entries(drawn)) svg.setAttribute(key, value);
  svg.setAttribute("stroke-width", "2");
  svg.setAttribute("stroke-linejoin", "round");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", "M4 5h16v11h-9l-5 4v-4H4z");
  svg.append(path);
  return svg;
}

/** Black or white, whichever reads better. */
function textOn(colour) {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}
