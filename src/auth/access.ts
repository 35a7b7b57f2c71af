import type { Exchange } from "../http/router.ts";
import { TOKEN_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";

/**
 * What a token may be allowed to do. They are literal: `admin` does not include `read`. `aggregates`
 * is for share links alone: reads that name nobody.
 */
export const SCOPES = ["read", "write", "jobs", "admin", "people", "aggregates"] as const;
export type Scope = typeof SCOPES[number];

/**
 * What a route asks for: `open` nothing, `anyone` the database alone, `key` an API key (which its
 * handler checks), `write or key` either of them, `session` any valid token, `person` the cookie of somebody who is signed in, the
 * others a token with that scope, `aggregates` that of a share or one with `read`.
 */
export type Access = "open" | "anyone" | "key" | "write or key" | "session" | "person" | Scope;

/** Who a valid token speaks for. */
export interface Principal {
  /** The token's `sub`; empty where it has none. */
  readonly subject: string;
  readonly scopes: ReadonlySet<string>;
  /** Public ids, or every project there is and will be. */
  readonly projects: readonly string[] | "*";
  readonly expiresAtMs: number;
  /** The latest epoch in which the token is known to hold; absent: it has nothing to do with epochs. */
  readonly epoch?: number;
  /** The session of a person that the token was made for; absent: nobody's. */
  readonly session?: SessionClaim;
  /** Whether the person handed the token out, and does not ask themselves; absent: no. */
  readonly isHandedOut?: boolean;
  /** The API token (`tok_…`) that it is, or that it was made with; absent: none that is listed. */
  readonly listed?: string;
  /** The share that the token reads; absent: none. It is good for nothing else. */
  readonly share?: ShareClaim;
}

/** A request to a route of the API, and whom its token speaks for; `who` is null where it needs none. */
export type ApiExchange = Exchange<Principal | null>;

/** Which session a token stands on, and as of which change of its person's rights. */
export interface SessionClaim {
  readonly id: string;
  readonly rights: number;
}

/** Which share a token reads, and as of which of its passwords. */
export interface ShareClaim {
  readonly id: string;
  readonly epoch: number;
}

const REALM = 'Bearer realm="footfall"';
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** A 401 with the challenge of RFC 6750, section 3: no `error` where no token was sent at all. */
export function unauthorized(
  code: "missing_token" | "invalid_token" | "expired_token",
  detail: string,
  cause?: unknown,
): Problem {
  const challenge = code === "missing_token"
    ? REALM
    : `${REALM}, error="invalid_token", error_description="${
      code === "expired_token" ? "The token has expired" : "The token is not valid"
    }"`;
  return new Problem(code, detail, { headers: { "WWW-Authenticate": challenge }, cause });
}

/** A 403: the token is good, but not for this. `scope` is named where one is lacking. */
export function insufficientScope(detail: string, scope?: Scope): Problem {
  const named = scope === undefined ? "" : `, scope="${scope}"`;
  return new Problem("insufficient_scope", detail, {
    headers: { "WWW-Authenticate": `${REALM}, error="insufficient_scope"${named}` },
  });
}

function bearerToken(request: Request): string {
  const header = request.headers.get("authorization");
  if (header === null || !/^Bearer(?: |$)/i.test(header)) {
    throw unauthorized("missing_token", "Send a token as `Authorization: Bearer <token>`.");
  }
  const token = header.length > TOKEN_LENGTH_MAX ? undefined : BEARER.exec(header)?.[1];
  if (token === undefined) {
    throw unauthorized(
      "invalid_token",
      `Send one JSON Web Token of at most ${TOKEN_LENGTH_MAX} characters.`,
    );
  }
  return token;
}

/** Who may pass; `peer` is the socket's other end. Resolves to null where nobody is asked for. */
export type Authorize = (
  access: Access,
  request: Request,
  peer: string | null,
) => Promise<Principal | null>;

function nobodyIsSignedIn(): Promise<Principal> {
  throw new Problem("no_session", "Nobody signs in here.");
}

/**
 * What a share's token may is read the figures that name nobody, and nothing else. Whoever may read
 * everything may read these too.
 */
function assertMay({ scopes, share }: Principal, access: Scope | "session"): void {
  const isAllowed = share !== undefined
    ? access === "aggregates" && scopes.has(access)
    : access === "session" || scopes.has(access === "aggregates" ? "read" : access);
  if (isAllowed) return;
  const needed = access === "aggregates" ? "read" : access;
  throw insufficientScope(
    share === undefined
      ? `This needs the scope \`${needed}\`, which the token does not have.`
      : "A shared dashboard shows figures, and nothing else.",
    needed === "session" ? undefined : needed,
  );
}

/**
 * The access check of every route. `verify` judges tokens; `signedIn` says whose cookie a request
 * brings.
 *
 * Throws `missing_token`, `invalid_token`, `expired_token` (401), `insufficient_scope` (403), and
 * whatever `verify` throws when it cannot judge (503), or `signedIn` for who is not (401, 403).
 */
export function createAuthorize(
  verify: (token: string) => Promise<Principal>,
  signedIn: (request: Request, peer: string | null) => Promise<Principal> = nobodyIsSignedIn,
): Authorize {
  return async (access, request, peer) => {
    if (access === "open" || access === "anyone" || access === "key") return null;
    if (access === "person") return await signedIn(request, peer);
    if (access === "write or key" && request.headers.get("x-api-key")) return null;
    const principal = await verify(bearerToken(request));
    assertMay(principal, access === "write or key" ? "write" : access);
    return principal;
  };
}

/** The principal of a route that asks for a token. A route that asks for none has no principal. */
export function requirePrincipal(who: Principal | null): Principal {
  if (who === null) throw new Error("This handler needs a route whose access asks for a token");
  return who;
}

/**
 * The public id of the project that a request means: the one it names, else the token's only one.
 * Throws `project_required` (400), or `insufficient_scope` (403) for a project not of the token.
 */
export function resolveProject(principal: Principal, named: string | null): string {
  const { projects } = principal;
  if (named !== null && named !== "") {
    if (projects === "*" || projects.includes(named)) return named;
    throw insufficientScope("The token is not for this project.");
  }
  const only = projects !== "*" && projects.length === 1 ? projects[0] : undefined;
  if (only !== undefined) return only;
  throw new Problem(
    "project_required",
    "Name the project: the token is not for exactly one. GET /v1/session lists its projects.",
  );
}

/** Throws `insufficient_scope` (403) unless the token is for every project (`["*"]`). */
export function requireEveryProject(principal: Principal): void {
  if (principal.projects === "*") return;
  throw insufficientScope('This needs a token for every project (`"projects": ["*"]`).');
}
