// Asks over fetch and yields the events of an answer. Depends on nothing: works in browsers and in
// Node. Never sends a request a second time by itself.
//
// The site's own page uses this module and those that it imports: `make clients` compiles them into
// chats/static/chats. Change them in clients/typescript/src.
import { EventStreamDecoder } from "./decoder.js";
import { ConnectionLost, Refused } from "./errors.js";
import { Patience } from "./patience.js";
export { ConnectionLost, EventStreamDecoder, Refused };
const SILENCE_MS = 60_000;
const KNOWN = new Set([
    "message_start",
    "sources",
    "delta",
    "message_end",
]);
/**
 * Post once; yield `{event, ...data}` for each event, the last being `message_end`.
 * Throws Refused, ConnectionLost, or the reason of `signal` where it was aborted.
 */
export async function* ask(url, options = {}) {
    const patience = new Patience(options.silence ?? SILENCE_MS, options.signal);
    let body;
    try {
        const headers = { Accept: "text/event-stream", ...options.headers };
        const response = await exchange(url, { method: "POST", ...options, headers }, patience);
        if (!isOf(response, "text/event-stream") || !response.body)
            throw stranger(response);
        body = response.body.getReader();
        const decoder = new EventStreamDecoder();
        for (;;) {
            const reader = body;
            const { done, value } = await patience.during(() => reader.read());
            if (done)
                throw new ConnectionLost();
            for (const { name, data } of decoder.feed(value)) {
                const event = eventOf(name, data);
                if (!event)
                    continue;
                yield event;
                if (name === "message_end")
                    return;
                patience.signal.throwIfAborted();
            }
        }
    }
    finally {
        patience.end();
        body?.cancel().catch(() => { });
    }
}
/** Any other request, its body read. Throws Refused, ConnectionLost, or the reason of `signal`. */
export async function send(url, options = {}) {
    const patience = new Patience(options.silence ?? SILENCE_MS, options.signal);
    try {
        const response = await exchange(url, options, patience);
        const body = await patience.during(() => response.arrayBuffer());
        return new Response(body.byteLength ? body : null, response);
    }
    finally {
        patience.end();
    }
}
async function exchange(url, options, patience) {
    const { method = "GET", body, headers = {}, credentials, fetch: by = fetch } = options;
    const json = body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await patience.during(() => by(url, {
        method,
        headers: { ...json, ...headers },
        body: body === undefined ? null : JSON.stringify(body),
        signal: patience.signal,
        // A redirected POST would be sent twice, or become a GET.
        redirect: method === "GET" ? "follow" : "manual",
        ...(credentials && { credentials }),
    }));
    options.onResponse?.(response);
    if (!response.ok)
        throw await refused(response, patience);
    return response;
}
async function refused(response, patience) {
    if (!isOf(response, "application/json"))
        return stranger(response);
    const text = await patience.during(() => response.text());
    try {
        const { error } = JSON.parse(text);
        if (typeof error.code === "string")
            return withHeaders(response, error);
    }
    catch {
        // Not ours: told by its status.
    }
    return stranger(response);
}
/** Something between us and the server answered, or what stands at this address is another one. */
function stranger(response) {
    if (!response.bodyUsed)
        response.body?.cancel().catch(() => { });
    let message = `The server answered with ${response.status}.`;
    if (response.ok)
        message = "What answered at this address is no Fastrag site.";
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
        message = "The server redirects this address; use the one that it is served at.";
    }
    return withHeaders(response, { code: "UNKNOWN", message });
}
function withHeaders(response, refusal) {
    const { headers, status } = response;
    const wait = secondsOf(headers.get("Retry-After"));
    return new Refused(status, refusal, wait, headers.get("X-Request-ID"));
}
/** Of Retry-After: seconds, or a date as proxies send it. */
function secondsOf(wait) {
    if (wait === null)
        return null;
    const until = () => Math.ceil((Date.parse(wait) - Date.now()) / 1000);
    const seconds = /^\d+$/.test(wait) ? Number(wait) : until();
    return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
function isOf(response, mediaType) {
    return (response.headers.get("Content-Type") ?? "").toLowerCase().startsWith(mediaType);
}
/** Null for events and kinds of delta of later versions. */
function eventOf(name, data) {
    if (!KNOWN.has(name))
        return null;
    try {
        const event = { event: name, ...JSON.parse(data) };
        return event.event === "delta" && event.delta.type !== "text" ? null : event;
    }
    catch (error) {
        throw new ConnectionLost(error, "An event is not as it should be.");
    }
}
