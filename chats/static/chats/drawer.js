// The list of chats on narrow screens: slides over the page, and gives the focus back.

const aside = document.getElementById("chats");
const button = document.getElementById("open-chats");
const veil = document.getElementById("veil");
const main = document.getElementById("main");
button.disabled = false; // a click before this would be lost

button.addEventListener("click", () => toggle(!aside.classList.contains("open")));
veil.addEventListener("click", () => toggle(false));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && aside.classList.contains("open")) toggle(false);
});
window.matchMedia("(max-width: 52rem)").addEventListener("change", () => toggle(false));

function toggle(open) {
  const wasOpen = aside.classList.contains("open");
  aside.classList.toggle("open", open);
  button.setAttribute("aria-expanded", String(open));
  veil.hidden = !open;
  main.inert = open;
  // Both stay where they are while the page scrolls: it need not scroll to them.
  if (open) aside.querySelector("a").focus({ preventScroll: true });
  else if (wasOpen) button.focus({ preventScroll: true });
}
