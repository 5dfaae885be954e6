// Asks over fetch and yields the events of an answer. Depends on nothing: works in browsers and in
// Node. Never sends a request a second time by itself.

const KNOWN = new Set(["message_start", "sources", "delta", "message_end"]);
// The server sends a keep-alive every 15 seconds: a longer silence means that it is gone.
const SILENCE_MS = 60_000;

/** The server refused the request before any event: `status`, `code`, words, seconds to wait. */
export class Refused extends Error {
  constructor({ status, code, message, retryAfter = null, fields = null, details = null }) {
    super(message);
    this.name = "Refused";
    Object.assign(this, { status, code, retryAfter, fields, details });
  }
}

/** The network failed, or the stream ended before `message_end`. */
export class ConnectionLost extends Error {
  constructor(cause) {
    super("The connection was lost.", { cause });
    this.name = "ConnectionLost";
  }
}

/** Bytes in, events out, however the bytes are cut. HTML standard, section 9.2.6. */
export class EventStreamDecoder {
  #utf8 = new TextDecoder();
  #line = ""; // the unfinished one
  #afterCr = false;
  #name = "";
  #data = [];

  feed(bytes) {
    let text = this.#utf8.decode(bytes, { stream: true });
    if (!text) return [];
    if (this.#afterCr && text[0] === "\n") text = text.slice(1); // the second half of a CRLF
    this.#afterCr = text.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    lines[0] = this.#line + lines[0];
    this.#line = lines.pop();
    return lines.map((line) => this.#take(line)).filter(Boolean);
  }

  #take(line) {
    if (!line) {
      const event = { name: this.#name || "message", data: this.#data.join("\n") };
      const complete = this.#data.length > 0;
      this.#name = "";
      this.#data = [];
      return complete ? event : null;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value[0] === " ") value = value.slice(1);
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
    return null; // comments, id, retry and unknown fields say nothing to us
  }
}

/**
 * Post once; yield `{event, ...data}` for each event, the last being `message_end`.
 * Throws Refused, ConnectionLost, or AbortError where `signal` was aborted.
 */
export async function* ask(url, { body, headers = {}, signal, silence = SILENCE_MS } = {}) {
  const response = await send(url, { method: "POST", body, headers, signal });
  const reader = response.body.getReader();
  const decoder = new EventStreamDecoder();
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, silence, signal);
      if (done) throw new ConnectionLost();
      for (const { name, data } of decoder.feed(value)) {
        if (!KNOWN.has(name)) continue; // events of later versions
        yield { event: name, ...JSON.parse(data) };
        if (name === "message_end") return;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** A request with a JSON body. Throws Refused, ConnectionLost, or AbortError. */
export async function send(url, { method = "GET", body, headers = {}, signal } = {}) {
  const given = body === undefined ? {} : { "Content-Type": "application/json" };
  let response;
  try {
    response = await fetch(url, {
      method,
      headers: { ...given, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    throw signal?.aborted ? error : new ConnectionLost(error);
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  const error = await response.json().then((body) => body.error, () => null);
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  return new Refused({
    status: response.status,
    code: error?.code ?? "UNKNOWN",
    message: error?.message ?? `The server answered with ${response.status}.`,
    retryAfter: Number.isNaN(seconds) ? null : seconds,
    fields: error?.fields ?? null,
    details: error?.details ?? null,
  });
}

async function readWithin(reader, milliseconds, signal) {
  let timer;
  const silent = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new ConnectionLost()), milliseconds);
  });
  try {
    return await Promise.race([reader.read(), silent]);
  } catch (error) {
    if (signal?.aborted || error instanceof ConnectionLost) throw error;
    throw new ConnectionLost(error);
  } finally {
    clearTimeout(timer);
  }
}
