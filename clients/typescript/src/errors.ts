import type { Fault, IngestResult, Problem } from "./schemas.js";

/** Base of all errors of this client. */
export class RecollectError extends Error {
  override name = "RecollectError";
}

/** No answer: the server is unreachable, too slow, or the call was aborted. `cause` says more. */
export class ConnectionError extends RecollectError {
  override name = "ConnectionError";
}

/**
 * The server answered with an error. `problem` is its problem document (RFC 9457); where a proxy answered without one it
 * has the status alone.
 */
export class ProblemError extends RecollectError {
  override name = "ProblemError";

  constructor(
    readonly status: number,
    readonly problem: Problem,
    /** The server's `Retry-After`, where it sent one. */
    readonly retryAfterSeconds?: number,
  ) {
    super(`${status}: ${problem.detail || problem.title}${told(problem.errors)}`);
  }

  /** Such as `urn:recollect:problem:not-found`. */
  get type(): string {
    return this.problem.type;
  }

  /** The faults of the input, each with `loc` and `message`. */
  get errors(): Fault[] {
    return this.problem.errors;
  }

  /** Of `addEvents` where all events were invalid: one result each; of `KeyReusedError` what the first request stored. */
  get results(): IngestResult[] {
    return this.problem.results ?? [];
  }
}

export class BadRequestError extends ProblemError {
  override name = "BadRequestError";
}
export class UnauthenticatedError extends ProblemError {
  override name = "UnauthenticatedError";
}
export class ForbiddenError extends ProblemError {
  override name = "ForbiddenError";
}
export class NotFoundError extends ProblemError {
  override name = "NotFoundError";
}
export class ConflictError extends ProblemError {
  override name = "ConflictError";
}
/** `ifMatch` names another version than the stored one. */
export class VersionMismatchError extends ProblemError {
  override name = "VersionMismatchError";
}
export class UnprocessableError extends ProblemError {
  override name = "UnprocessableError";
}
/** An idempotency key came with another body before. What that one stored stands, as `results` of `addEvents` name it. */
export class KeyReusedError extends UnprocessableError {
  override name = "KeyReusedError";
}
export class ThrottledError extends ProblemError {
  override name = "ThrottledError";
}
/** The language model failed. */
export class UpstreamFailedError extends ProblemError {
  override name = "UpstreamFailedError";
}
export class UnavailableError extends ProblemError {
  override name = "UnavailableError";
}

const BY_STATUS: Record<number, typeof ProblemError> = {
  400: BadRequestError,
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: VersionMismatchError,
  413: UnprocessableError,
  422: UnprocessableError,
  428: UnprocessableError,
  429: ThrottledError,
  502: UpstreamFailedError,
  503: UnavailableError,
  504: UnavailableError,
};

const BY_TYPE: Record<string, typeof ProblemError> = { "urn:recollect:problem:idempotency-key-reused": KeyReusedError };

/** The error of an answer: by its type or its status, with its problem document or what stands for one. */
export function problemError(status: number, body: unknown, retryAfterSeconds?: number): ProblemError {
  const sent = typeof body === "object" && body !== null ? (body as Partial<Problem>) : {};
  const bare: Problem = { type: "about:blank", title: "no problem document", status, detail: "", errors: [] };
  const known = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
  const Kind = BY_TYPE[sent.type ?? ""] ?? BY_STATUS[status] ?? ProblemError;
  return new Kind(status, { ...bare, ...known }, retryAfterSeconds);
}

const TOLD = 5;

function told(errors: Fault[]): string {
  if (!Array.isArray(errors) || errors.length === 0) {
    return "";
  }
  const shown = errors.slice(0, TOLD).map((one) => `${one.loc.join(".")}: ${one.message}`);
  const more = errors.length > TOLD ? `; ${errors.length - TOLD} more` : "";
  return ` (${shown.join("; ")}${more})`;
}
