import { TOKEN_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";

/** What a token may be allowed to do. They are literal: `admin` does not include `read`. */
export const SCOPES = ["read", "write", "jobs", "admin"] as const;
export type Scope = typeof SCOPES[number];

/**
 * What a route asks for: `open` nothing, `key` an API key (which its handler checks), `session` any
 * valid token, the others a token with that scope.
 */
export type Access = "open" | "key" | "session" | Scope;

/** Who a valid token speaks for. */
export interface Principal {
  /** The token's `sub`; empty where it has none. */
  readonly subject: string;
  readonly scopes: ReadonlySet<string>;
  /** Public ids, or every project there is and will be. */
  readonly projects: readonly string[] | "*";
  readonly expiresAtMs: number;
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

/**
 * The access check of every route. Resolves to null where no token is asked for.
 *
 * Throws `missing_token`, `invalid_token`, `expired_token` (401), `insufficient_scope` (403), and
 * whatever `verify` throws when it cannot judge (503).
 */
export function createAuthorize(
  verify: (token: string) => Promise<Principal>,
): (access: Access, request: Request) => Promise<Principal | null> {
  return async (access, request) => {
    if (access === "open" || access === "key") return null;
    const principal = await verify(bearerToken(request));
    if (access !== "session" && !principal.scopes.has(access)) {
      throw insufficientScope(
        `This needs the scope \`${access}\`, which the token does not have.`,
        access,
      );
    }
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
