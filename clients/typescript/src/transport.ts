import { ConnectionError, type ProblemError, RecollectError, problemError } from "./errors.js";

/** How a client reaches its server. */
export interface ClientOptions {
  /**
   * Sent as `Authorization: Bearer`: a key, or a function that gives the current token. That is asked before the first
   * call, and again, once a call, where the server refuses the token (401); what it throws, the call throws.
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /** How long one attempt may take; absent: 10,000. */
  timeoutMs?: number;
  /** How often a call that may be repeated is tried, the first time included; absent: 4. */
  tries?: number;
  /** The first pause between tries, which doubles; absent: 200. The server's `Retry-After` replaces it. */
  firstPauseMs?: number;
  /** A longer pause is not waited for: the error is thrown at once. Absent: 10,000. */
  longestPauseMs?: number;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
}

/** What every call may take beside its arguments. */
export interface RequestOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** The version that is changed or deleted, a number, or `"*"` for any; another one throws VersionMismatchError. */
  ifMatch?: number | string;
  /** Of a call that stores something; absent: a fresh one, so that a repetition adds nothing. */
  idempotencyKey?: string;
}

/** An operation as its document describes it. */
export interface Route {
  method: string;
  path: string;
  query: readonly string[];
  body: "json" | "ndjson" | "none";
  answer: "json" | "text" | "none";
  keyed: boolean;
  repeatable: boolean;
  answers: readonly number[];
}

const MAY_PASS = new Set([429, 502, 503, 504]);
const UNAUTHENTICATED = 401;
const IN_FLIGHT = 409;
const PLAIN_ID = /^[A-Za-z0-9._-]+$/;
const BYTES_AT_ONCE = 8192;

/** Sends calls, repeats those that may be repeated, and reads what comes back. */
export class Transport {
  private readonly base: string;
  private readonly options: ClientOptions;
  private key: Promise<string> | undefined;

  constructor(url: string, options: ClientOptions = {}) {
    this.base = url.replace(/\/+$/, "");
    this.options = options;
  }

  /** Throws ProblemError where the answer is an error and ConnectionError where none comes, both after the retries. */
  async send<Answer>(route: Route, given: object, options: RequestOptions = {}): Promise<Answer> {
    const [url, request] = this.prepared(route, { ...given } as Record<string, unknown>, options);
    const tries = route.repeatable || route.keyed ? (this.options.tries ?? 4) : 1;
    let mayAsk = typeof this.options.apiKey === "function";
    for (let attempt = 1; ; attempt += 1) {
      const key = await this.currentKey();
      const signed = key ? { ...request, headers: { ...request.headers, Authorization: `Bearer ${key}` } } : request;
      const outcome = await this.attempt<Answer>(route, url, signed, options);
      if (!("failed" in outcome)) {
        return outcome.answer;
      }
      if (mayAsk && "status" in outcome.failed && outcome.failed.status === UNAUTHENTICATED) {
        // What was refused has done nothing, so it is sent again whatever it is, and counts as no try.
        mayAsk = false;
        attempt -= 1;
        if ((await this.currentKey()) === key) {
          this.key = undefined; // another call has asked since where it is not
        }
        continue;
      }
      const pause = attempt < tries && mayPass(outcome.failed, options) ? this.pauseMs(outcome.failed, attempt) : undefined;
      if (pause === undefined) {
        throw outcome.failed;
      }
      await waited(pause, options.signal);
    }
  }

  private currentKey(): Promise<string> | string | undefined {
    const given = this.options.apiKey;
    if (typeof given !== "function") {
      return given;
    }
    const asked = (this.key ??= Promise.resolve().then(given));
    asked.catch(() => {
      if (this.key === asked) {
        this.key = undefined; // the next call asks again
      }
    });
    return asked;
  }

  private async attempt<Answer>(
    route: Route,
    url: string,
    request: RequestInit,
    options: RequestOptions,
  ): Promise<{ answer: Answer } | { failed: ConnectionError | ProblemError }> {
    const limit = AbortSignal.timeout(options.timeoutMs ?? this.options.timeoutMs ?? 10_000);
    const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
    try {
      const response = await (this.options.fetch ?? fetch)(url, { ...request, signal });
      const text = await response.text();
      if (response.ok || route.answers.includes(response.status)) {
        return { answer: read(route, response, text) as Answer };
      }
      return { failed: problemError(response.status, parsed(text), retryAfterSeconds(response)) };
    } catch (cause) {
      if (cause instanceof RecollectError) {
        throw cause;
      }
      return { failed: new ConnectionError(`no answer from ${this.base}`, { cause }) };
    }
  }

  private prepared(route: Route, given: Record<string, unknown>, options: RequestOptions): [string, RequestInit] {
    const path = route.path.replace(/\{(\w+)\}/g, (_whole, name: string) => pathSegment(String(taken(given, name))));
    const query = new URLSearchParams();
    for (const name of route.query) {
      const value = taken(given, name);
      if (value !== undefined && value !== null) {
        query.set(name, String(value));
      }
    }
    const asked = query.size > 0 ? `?${query}` : "";
    // Redirects are not followed: they would send the key elsewhere.
    const request: RequestInit = { method: route.method, headers: this.headers(route, options), redirect: "error" };
    if (route.body !== "none") {
      request.body = route.body === "json" ? JSON.stringify(given) : String(given["lines"]);
    }
    return [`${this.base}${path}${asked}`, request];
  }

  private headers(route: Route, options: RequestOptions): Record<string, string> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (route.body !== "none") {
      headers["Content-Type"] = route.body === "json" ? "application/json" : "application/x-ndjson";
    }
    if (route.keyed) {
      headers["Idempotency-Key"] = options.idempotencyKey ?? crypto.randomUUID();
    }
    const version = options.ifMatch ?? (route.method === "PATCH" ? "*" : undefined);
    if (version !== undefined) {
      headers["If-Match"] = version === "*" ? "*" : `"${version}"`;
    }
    return headers;
  }

  /** How long to wait after this failure; undefined: it is final. */
  private pauseMs(failed: ConnectionError | ProblemError, attempt: number): number | undefined {
    const longest = this.options.longestPauseMs ?? 10_000;
    const whole = Math.min((this.options.firstPauseMs ?? 200) * 2 ** (attempt - 1), longest);
    const asked = "retryAfterSeconds" in failed ? failed.retryAfterSeconds : undefined;
    const pause = asked === undefined ? whole / 2 + (Math.random() * whole) / 2 : asked * 1000;
    return pause <= longest ? pause : undefined;
  }
}

/** An id in a path: itself where plain, else `~` and the unpadded base64url of its UTF-8. */
export function pathSegment(id: string): string {
  if (PLAIN_ID.test(id) && id !== "." && id !== "..") {
    return id;
  }
  const bytes = new TextEncoder().encode(id);
  let binary = "";
  for (let start = 0; start < bytes.length; start += BYTES_AT_ONCE) {
    binary += String.fromCharCode(...bytes.subarray(start, start + BYTES_AT_ONCE));
  }
  return `~${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

function taken(given: Record<string, unknown>, name: string): unknown {
  const value = given[name];
  delete given[name];
  return value;
}

/** A conflict may pass only with `Retry-After`: then a request with the same key is in flight. */
function mayPass(failed: ConnectionError | ProblemError, options: RequestOptions): boolean {
  if (failed instanceof ConnectionError) {
    return !options.signal?.aborted;
  }
  return MAY_PASS.has(failed.status) || (failed.status === IN_FLIGHT && failed.retryAfterSeconds !== undefined);
}

function read(route: Route, response: Response, text: string): unknown {
  if (route.answer === "none" || response.status === 204) {
    return undefined;
  }
  if (route.answer === "text") {
    return text;
  }
  const body = parsed(text);
  if (body === undefined) {
    throw problemError(response.status, { title: "the answer is no JSON" });
  }
  return body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function retryAfterSeconds(response: Response): number | undefined {
  const given = response.headers.get("Retry-After")?.trim() ?? "";
  if (/^\d+$/.test(given)) {
    return Number(given);
  }
  const moment = Date.parse(given);
  return Number.isNaN(moment) ? undefined : Math.max(0, (moment - Date.now()) / 1000);
}

/** Waits, or throws ConnectionError as soon as the caller aborts. */
function waited(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(new ConnectionError("aborted", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}
