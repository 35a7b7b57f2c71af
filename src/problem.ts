/** Everything that can go wrong, as data: RFC 9457 problems by their stable `code`. */
import { RETRY_AFTER_S } from "./limits.ts";

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
}

export const PROBLEMS = {
  invalid_json: { status: 400, title: "The body is not valid JSON" },
  invalid_encoding: { status: 400, title: "The body cannot be decoded" },
  invalid_envelope: { status: 400, title: "The body is not an object with an `events` array" },
  invalid_events: { status: 400, title: "No event of the batch is valid" },
  invalid_parameter: { status: 400, title: "A parameter is not valid" },
  invalid_body: { status: 400, title: "The body does not have the documented shape" },
  invalid_host: { status: 400, title: "The Host header is not a host" },
  unreadable_file: { status: 400, title: "The file cannot be read" },
  range_too_large: { status: 400, title: "The range is too large" },
  cursor_expired: { status: 400, title: "This cursor was given out too long ago" },
  project_required: { status: 400, title: "Say which project is meant" },
  missing_api_key: { status: 401, title: "An API key is required" },
  invalid_api_key: { status: 401, title: "This API key does not exist" },
  password_required: { status: 401, title: "A password is required" },
  invalid_password: { status: 401, title: "The password is wrong" },
  invalid_credentials: { status: 401, title: "The e-mail address or the password is wrong" },
  no_session: { status: 401, title: "Nobody is signed in here" },
  passkey_refused: { status: 401, title: "This passkey opens nothing here" },
  missing_token: { status: 401, title: "A bearer token is required" },
  invalid_token: { status: 401, title: "The bearer token is not valid" },
  expired_token: { status: 401, title: "The bearer token has expired" },
  revoked_api_key: { status: 403, title: "This API key has been revoked" },
  expired_api_key: { status: 403, title: "This API key has expired" },
  origin_not_allowed: {
    status: 403,
    title: "This project does not accept events from this origin",
  },
  key_not_allowed_here: {
    status: 403,
    title: "A secret key may not be sent this way",
  },
  no_visit: { status: 403, title: "A page that is being captured is not a visit" },
  foreign_origin: { status: 403, title: "Only the server's own pages may request this" },
  invalid_link: { status: 403, title: "This link was never given out" },
  expired_link: { status: 403, title: "This link has expired" },
  used_link: { status: 403, title: "This link has been used" },
  insufficient_scope: { status: 403, title: "The token does not allow this" },
  too_few_visitors: { status: 403, title: "This would show too few visitors" },
  address_not_allowed: { status: 403, title: "This is not open to every address" },
  not_found: { status: 404, title: "There is nothing at this address" },
  method_not_allowed: { status: 405, title: "This address does not accept this method" },
  body_timeout: { status: 408, title: "The body did not arrive in time" },
  conflict: { status: 409, title: "This would contradict what is stored" },
  mail_not_configured: { status: 409, title: "No mail server is configured" },
  owner_exists: { status: 409, title: "This server has an owner" },
  last_owner: { status: 409, title: "One owner must stay" },
  already_exists: { status: 412, title: "This name is already in use" },
  body_too_large: { status: 413, title: "The body is too large" },
  too_many_events: { status: 413, title: "The batch has too many events" },
  unsupported_media_type: { status: 415, title: "This content type is not accepted here" },
  unsupported_encoding: { status: 415, title: "This content encoding is not accepted here" },
  rate_limited: { status: 429, title: "This API key sends too fast" },
  too_many_attempts: { status: 429, title: "Too many attempts have failed" },
  too_many_streams: { status: 429, title: "Too many live streams are open" },
  internal_error: { status: 500, title: "The server made a mistake" },
  damaged_events: { status: 500, title: "Stored events cannot be read" },
  overloaded: { status: 503, title: "The server is overloaded" },
  database_unavailable: { status: 503, title: "The database does not answer" },
  token_keys_unavailable: {
    status: 503,
    title: "The identity provider's keys cannot be fetched",
  },
  read_timeout: { status: 503, title: "The read took too long" },
  shutting_down: { status: 503, title: "The server is stopping" },
  moving: { status: 503, title: "The server is being moved to another database" },
  moved: { status: 503, title: "The server has moved to another database" },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** The values of `errors[].code` for a member of a body; for a parameter it is one of the problem codes. */
export const BODY_MISTAKE_CODES = [
  "required",
  "unknown_member",
  "invalid_type",
  "invalid_value",
  "weak_password",
] as const;

/** An entry of a problem's `errors`: which part is wrong, and what to do about it. */
export interface ProblemPart {
  readonly field?: string;
  readonly index?: number;
  readonly eventId?: string | null;
  readonly code: string;
  readonly message: string;
}

/**
 * A failure that the caller is told about. Handlers throw it, and the router turns it into
 * `application/problem+json`. `detail` is shown to the caller: it says what to do, and contains no secret,
 * SQL or path.
 */
export class Problem extends Error {
  override readonly name = "Problem";

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly options: {
      readonly errors?: readonly ProblemPart[];
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
      /** True: sent as problem+json even if the route has an error format of its own. */
      readonly isPlain?: boolean;
    } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
  }

  /** The same problem, sent as problem+json by every route. */
  plainly(): Problem {
    return new Problem(this.code, this.detail, { ...this.options, isPlain: true });
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

/** The problem of a request that may succeed soon: the reply says when to send it again. */
export function retryable(code: ProblemCode, detail: string, cause?: unknown): Problem {
  return new Problem(code, detail, { headers: { "Retry-After": String(RETRY_AFTER_S) }, cause });
}

/** The problem of a body with wrong parts, the first three of which are also named in its detail. */
export function invalidBody(errors: readonly ProblemPart[]): Problem {
  const named = errors.slice(0, 3).map(({ field = "the body" }) => field).join(", ");
  return new Problem("invalid_body", `Correct what \`errors\` lists: ${named}.`, { errors });
}
