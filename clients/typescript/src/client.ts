// A Fastrag site as an object: every call of its chat API, typed by the schema.

import type { AnswerEvent, Schemas } from "./events.js";
import { ask, type RequestOptions, send } from "./stream.js";

export interface ClientOptions {
  /** Where the site is served, as `https://ask.example.org`. */
  baseUrl: string | URL;
  /** Made by `manage.py apikey`. Without one, an anonymous session owns the chats. */
  apiKey?: string;
  /** Sent with every request, as `X-CSRFToken` from a page of the site. */
  headers?: Record<string, string>;
  /** "include" sends the session cookie from a page of another origin. */
  credentials?: RequestCredentials;
  silence?: number;
  fetch?: typeof fetch;
}

export interface Abortable {
  signal?: AbortSignal | undefined;
}

export interface Repeatable extends Abortable {
  /** The same request with the same key is answered once. Without one, each call has its own. */
  idempotencyKey?: string | undefined;
}

export interface ChatQuery extends Abortable {
  search?: string;
  limit?: number;
  cursor?: string;
}

export class Client {
  #options: ClientOptions;
  #cookie: string | null = null; // where the platform keeps none, as in Node

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Ask in a new chat, or in `chatId`. Leaving the loop, or an abort, interrupts the answer. */
  ask(
    content: string,
    { chatId, ...asked }: Repeatable & { chatId?: string | undefined } = {},
  ): AsyncGenerator<AnswerEvent, void, undefined> {
    const path = chatId == null ? "chats" : `${chat(chatId)}/messages`;
    return this.#stream(path, asked, { content });
  }

  /** Answer the same question again. */
  regenerate(
    chatId: string,
    messageId: string,
    asked: Repeatable = {},
  ): AsyncGenerator<AnswerEvent, void, undefined> {
    return this.#stream(`${message(chatId, messageId)}/regenerate`, asked);
  }

  /** Stop the answer that is being written, whoever reads it. Refused with NOT_RUNNING. */
  stop(chatId: string, asked: Abortable = {}): Promise<Schemas["Stopping"]> {
    return this.#json("POST", `${chat(chatId)}/stop`, asked);
  }

  /** One page of your chats, newest activity first; `cursorOf(page.next)` leads to the next. */
  chats({ search, limit, cursor, ...asked }: ChatQuery = {}): Promise<
    Schemas["PaginatedChatSummaryList"]
  > {
    return this.#json("GET", `chats${query({ search, limit, cursor })}`, asked);
  }

  chat(chatId: string, asked: Abortable = {}): Promise<Schemas["Chat"]> {
    return this.#json("GET", chat(chatId), asked);
  }

  rename(chatId: string, title: string, asked: Abortable = {}): Promise<Schemas["Chat"]> {
    return this.#json("PATCH", chat(chatId), asked, { title });
  }

  async remove(chatId: string, asked: Abortable = {}): Promise<void> {
    await this.#send("DELETE", chat(chatId), asked);
  }

  rate(
    chatId: string,
    messageId: string,
    feedback: Schemas["FeedbackRequest"],
    asked: Abortable = {},
  ): Promise<Schemas["Feedback"]> {
    return this.#json("PUT", `${message(chatId, messageId)}/feedback`, asked, feedback);
  }

  async unrate(chatId: string, messageId: string, asked: Abortable = {}): Promise<void> {
    await this.#send("DELETE", `${message(chatId, messageId)}/feedback`, asked);
  }

  /** The conversation with its sources, as Markdown. */
  async markdown(chatId: string, asked: Abortable = {}): Promise<string> {
    return (await this.#send("GET", `${chat(chatId)}/export`, asked)).text();
  }

  /** Search without answering. */
  search(q: string, { k, ...asked }: Abortable & { k?: number } = {}): Promise<
    Schemas["SearchResult"]
  > {
    return this.#json("GET", `search${query({ q, k })}`, asked);
  }

  #stream(path: string, { idempotencyKey, signal }: Repeatable, body?: unknown) {
    const key = { "Idempotency-Key": idempotencyKey ?? newKey() };
    return ask(this.#url(path), this.#request(signal, key, body));
  }

  #send(method: string, path: string, { signal }: Abortable, body?: unknown): Promise<Response> {
    return send(this.#url(path), { method, ...this.#request(signal, {}, body) });
  }

  async #json<Result>(
    method: string,
    path: string,
    asked: Abortable,
    body?: unknown,
  ): Promise<Result> {
    return (await this.#send(method, path, asked, body)).json() as Promise<Result>;
  }

  #url(path: string): URL {
    const base = String(this.#options.baseUrl);
    return new URL(`api/${path}`, base.endsWith("/") ? base : `${base}/`);
  }

  #request(
    signal: AbortSignal | undefined,
    more: Record<string, string>,
    body: unknown,
  ): RequestOptions {
    const { apiKey, headers, baseUrl: _, ...options } = this.#options;
    return {
      ...options,
      signal,
      body,
      headers: {
        ...(apiKey && { Authorization: `Bearer ${apiKey}` }),
        ...(this.#cookie && { Cookie: this.#cookie }),
        ...headers,
        ...more,
      },
      onResponse: (response) => this.#keepCookie(response),
    };
  }

  #keepCookie(response: Response): void {
    const cookies = response.headers.getSetCookie?.() ?? []; // browsers show none, and keep them
    const session = cookies.find((cookie) => cookie.startsWith("sessionid="));
    if (session) this.#cookie = session.split(";", 1)[0] ?? null;
  }
}

/** The cursor in an address of `next` or `previous`. */
export function cursorOf(address: string | null): string | undefined {
  return (address && new URL(address).searchParams.get("cursor")) || undefined;
}

/** Also where the page is not served over TLS, and crypto.randomUUID is missing. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const chat = (chatId: string): string => `chats/${encodeURIComponent(chatId)}`;

const message = (chatId: string, messageId: string): string =>
  `${chat(chatId)}/messages/${encodeURIComponent(messageId)}`;

function query(values: Record<string, string | number | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const text = String(new URLSearchParams(given.map(([name, value]) => [name, String(value)])));
  return text && `?${text}`;
}
