// What a frame on another site remembers. Browsers give it a storage for each site around it: some
// only partitioned cookies (over https), some only localStorage. The server reads neither.

const SCOPE = "; Path=/embed/; Secure; SameSite=None; Partitioned";

/** `days`: 0 until the browser is closed. */
export function keep(name, value, days = 0) {
  const age = days ? `; Max-Age=${days * 86_400}` : "";
  document.cookie = `${name}=${encodeURIComponent(value)}${age}${SCOPE}`;
  if (!inCookie(name)) inStorage((storage) => storage.setItem(name, value));
}

export const recall = (name) =>
  inCookie(name) || inStorage((storage) => storage.getItem(name)) || null;

export function forget(name) {
  document.cookie = `${name}=; Max-Age=0${SCOPE}`;
  inStorage((storage) => storage.removeItem(name));
}

function inCookie(name) {
  const found = document.cookie.split("; ").find((each) => each.startsWith(`${name}=`));
  return found && decodeURIComponent(found.slice(name.length + 1));
}

function inStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null; // forbidden: what is kept lives as long as the page
  }
}
