// Reads an answer to its end when its page is left or reloaded in between. Without it the server
// would take a page that goes for a reader who has gone, and stop writing.

const ASKS = /^\/api\/chats(\/[^/]+\/messages(\/[^/]+\/regenerate)?)?$/;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const asks = method === "POST" && ASKS.test(new URL(url).pathname);
  if (asks) event.respondWith(answered(event));
});

async function answered(event) {
  const response = await accepted(event.request);
  if (!response.ok || !response.body) return response;
  const [theirs, ours] = response.body.tee();
  event.waitUntil(drain(ours).then(tellPages));
  return new Response(theirs, response);
}

/** The page that asked may have gone: others have a chat to list that is stored only now. */
function tellPages() {
  const tabs = new BroadcastChannel("fastrag-chats");
  tabs.postMessage({ chat: null });
  tabs.close();
}

/** Until the server accepts the question, the page can still take it back. */
async function accepted(request) {
  const control = new AbortController();
  const abort = () => control.abort();
  request.signal.addEventListener("abort", abort);
  try {
    return await fetch(request, { signal: control.signal });
  } finally {
    request.signal.removeEventListener("abort", abort);
  }
}

async function drain(stream) {
  const reader = stream.getReader();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection was lost; the page sees that as well.
  }
}
