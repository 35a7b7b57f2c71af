import type { Exchange } from "../http/router.ts";
import { TOKEN_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";

/**
 * What a token may do. No scope includes another: `admin` does not include `read`. `aggregates` is only for
 * shared dashboards: it allows reads that identify no visitor.
 */
export const SCOPES = ["read", "write", "jobs", "admin", "people", "aggregates"] as const;
export type Scope = typeof SCOPES[number];

/**
 * What a route requires. `open`: nothing; `anyone`: only that the database is there; `key`: an API key, which
 * its handler checks; `write or key`: a token with `write`, or an API key; `session`: any valid token;
 * `person`: the cookie of a signed-in person; `aggregates`: a share's token, or one with `read`; other scopes:
 * a token with that scope.
 */
export type Access = "open" | "anyone" | "key" | "write or key" | "session" | "person" | Scope;

/** What a valid token, or the cookie of a signed-in person, says of who sends a request. */
export interface Principal {
  /** The token's `sub`; empty if it has none. */
  readonly subject: string;
  readonly scopes: ReadonlySet<string>;
  /** Public ids, or every present and future project. */
  readonly projects: readonly string[] | "*";
  readonly expiresAtMs: number;
  /** The latest epoch in which the token is known to be valid; absent: not a token. */
  readonly epoch?: number;
  /** The person's session that the token depends on; absent: none. */
  readonly session?: SessionClaim;
  /** Whether the person issued the token for use elsewhere; absent: no, their browser uses it. */
  readonly isHandedOut?: boolean;
  /** The id of the API token that it is, or that it was made with; absent: none. */
  readonly apiTokenId?: string;
  /** The share that the token may read, and nothing else; absent: it is not a share's token. */
  readonly share?: ShareClaim;
}

/** A request to a route of the API; `who` is null if the route requires no token. */
export type ApiExchange = Exchange<Principal | null>;

/** The session that a token depends on, and the version of its person's rights at that time. */
export interface SessionClaim {
  readonly id: string;
  readonly rights: number;
}

/** The share that a token may read; `epoch` counts the changes of the share's password. */
export interface ShareClaim {
  readonly id: string;
  readonly epoch: number;
}

const REALM = 'Bearer realm="footfall"';
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** A 401 with the challenge of RFC 6750, section 3: without `error` if no token was sent. */
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

/** A 403: the token is valid, but not for this. `scope`: the one that it lacks, if that is the reason. */
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

/**
 * Checks a request against a route's access; `peer` is the address at the socket's other end. Resolves to null
 * if no principal is required.
 */
export type Authorize = (
  access: Access,
  request: Request,
  peer: string | null,
) => Promise<Principal | null>;

function nobodyIsSignedIn(): Promise<Principal> {
  throw new Problem("no_session", "Nobody signs in here.");
}

/** Throws unless the scopes allow the access. A share's token may only read aggregates; so may one with `read`. */
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
 * Returns the access check of every route. `verify` checks tokens; `signedIn` finds the person of a request's
 * cookie.
 *
 * The check throws `missing_token`, `invalid_token`, `expired_token` (401), `insufficient_scope` (403), what
 * `verify` throws if it cannot check a token (503), and what `signedIn` throws if nobody is signed in (401, 403).
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

/** The principal of a route that requires one. */
export function requirePrincipal(who: Principal | null): Principal {
  if (who === null) throw new Error("This handler needs a route whose access asks for a token");
  return who;
}

/**
 * The public id of the project that a request is for: the one it names, else the token's only one.
 * Throws `project_required` (400), or `insufficient_scope` (403) if the token is not for the named project.
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
