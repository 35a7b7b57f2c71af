import type { Sql } from "../../db/sql.ts";
import { originOf, type OwnAddress } from "../../http/own_address.ts";
import { Problem } from "../../problem.ts";
import type { ApiExchange, Principal } from "../access.ts";
import { scopesOf } from "../roles.ts";
import type { Person } from "./people.ts";
import { SESSION_UNUSED_MS_MAX } from "./people_limits.ts";
import {
  endSessionOfSecret,
  noteSessionUse,
  sessionOf,
  type SessionPlace,
  startSession,
} from "./sessions.ts";

/** The person and session of a request's cookie. */
export interface SignedIn extends Principal {
  readonly person: Person;
  readonly sessionId: string;
  /** The cookie's secret. */
  readonly secret: string;
}

/** What the server knows of a request besides the request itself. */
export interface RequestFacts {
  readonly ownAddress: (request: Request, peer: string | null) => OwnAddress;
  /** Device, place and address of the client. */
  readonly placeOf: (request: Request, peer: string | null) => SessionPlace;
  readonly basePath: string;
}

/** A request, and the address at the socket's other end. */
type PeerRequest = Pick<ApiExchange, "request" | "peer">;

const NAME = "footfall";
/** Browsers accept a cookie with such a name only over https, and with the first only from this very host. */
const SECURE_PREFIXES = ["__Host-", "__Secure-"] as const;

function cookieName(name: string, isHttps: boolean, basePath: string): string {
  if (!isHttps) return name;
  return SECURE_PREFIXES[basePath === "" ? 0 : 1] + name;
}

/** The cookies of a request; of several with one name the first, which has the longest path. */
function cookiesOf(request: Request): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [name = "", ...value] = part.split("=");
    if (!cookies.has(name.trim())) cookies.set(name.trim(), value.join("=").trim());
  }
  return cookies;
}

/**
 * Returns the value of a request's cookie; null: there is none. The unprotected name counts only if the page is
 * not loaded over https, since another host could have set it.
 */
function cookieValue(
  { request, peer }: PeerRequest,
  facts: RequestFacts,
  name: string,
): string | null {
  const cookies = cookiesOf(request);
  const secure = cookieName(name, true, facts.basePath);
  const names = facts.ownAddress(request, peer).isHttps ? [secure] : [secure, name];
  const found = names.find((each) => cookies.has(each));
  return found === undefined ? null : cookies.get(found) ?? null;
}

/** The secret of the session in a request's cookie; null: there is none. */
export function cookieSecretOf(exchange: PeerRequest, facts: RequestFacts): string | null {
  return cookieValue(exchange, facts, NAME);
}

/** Whether the browser has loaded the page over https, as a trusted proxy or the page's own `Origin` says. */
function isByHttps({ request, peer }: PeerRequest, facts: RequestFacts): boolean {
  const own = facts.ownAddress(request, peer);
  if (own.isHttps) return true;
  const origin = request.headers.get("origin") ?? "";
  return origin.startsWith("https://") && originOf(request, own) === "own";
}

/** Returns a `Set-Cookie` for some seconds (0 removes it), as protected as the page's address allows. */
function setCookie(exchange: PeerRequest, facts: RequestFacts, cookie: BriefCookie): string {
  const isHttps = isByHttps(exchange, facts);
  const { basePath } = facts;
  return `${cookieName(cookie.name, isHttps, basePath)}=${cookie.value}; ` +
    `Path=${basePath === "" ? "/" : basePath}; ` +
    `Max-Age=${cookie.seconds}; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`;
}

/** Returns the `Set-Cookie` with a session's secret, for as long as the session may be unused. */
export function sessionCookie(exchange: PeerRequest, facts: RequestFacts, secret: string): string {
  const seconds = secret === "" ? 0 : SESSION_UNUSED_MS_MAX / 1000;
  return setCookie(exchange, facts, { name: NAME, value: secret, seconds });
}

/** A cookie that a browser keeps between two requests of one sign-in. */
interface BriefCookie {
  /** `oidc` */
  readonly name: string;
  readonly value: string;
  readonly seconds: number;
}

/** Returns the `Set-Cookie` of a brief cookie. */
export function briefCookie(
  exchange: PeerRequest,
  facts: RequestFacts,
  cookie: BriefCookie,
): string {
  return setCookie(exchange, facts, { ...cookie, name: `${NAME}-${cookie.name}` });
}

/** Returns the value of the brief cookie with this name; null: there is none. */
export function briefCookieValue(
  exchange: PeerRequest,
  facts: RequestFacts,
  name: string,
): string | null {
  return cookieValue(exchange, facts, `${NAME}-${name}`);
}

/** Returns the `Set-Cookie` that removes the session's cookie. */
export function endedCookie(exchange: PeerRequest, facts: RequestFacts): string {
  return sessionCookie(exchange, facts, "");
}

/**
 * Throws `foreign_origin` (403) if the browser says that another site's page sent the request, or, with `mustSay`,
 * if nothing says that one of ours did.
 */
export function assertOwnOrigin(
  exchange: PeerRequest,
  facts: RequestFacts,
  mustSay: boolean,
): void {
  const origin = originOf(exchange.request, facts.ownAddress(exchange.request, exchange.peer));
  if (origin === "own" || (origin === "unknown" && !mustSay)) return;
  throw new Problem(
    "foreign_origin",
    origin === "unknown"
      ? "Send the `Origin` of this server with requests that change something by cookie."
      : "A page of another origin may not do this. If this is the server's own page, a proxy hides " +
        "its address: set PUBLIC_URL, or let the proxy pass on `Host`.",
  );
}

const SAFE_METHODS = new Set(["GET", "HEAD"]);

/**
 * Returns a function that finds who is signed in by a request's cookie. A request that changes something by cookie
 * must come from one of our pages. The function throws `no_session` (401), `foreign_origin` (403).
 */
export function createSignedIn(
  sql: Sql,
  facts: RequestFacts,
  now: () => number,
): (request: Request, peer: string | null) => Promise<SignedIn> {
  return async (request, peer) => {
    const secret = cookieSecretOf({ request, peer }, facts);
    // A request without the cookie is refused below, wherever it comes from.
    if (secret !== null && !SAFE_METHODS.has(request.method)) {
      assertOwnOrigin({ request, peer }, facts, true);
    }
    const found = secret === null ? null : await sessionOf(sql, secret, now());
    if (secret === null || found === null) {
      throw new Problem("no_session", "You are signed out here. Sign in.");
    }
    const { person, session } = found;
    // After a failure, the next use tries again.
    await noteSessionUse(sql, session, facts.placeOf(request, peer), now()).catch(() => {});
    return {
      subject: person.email,
      scopes: new Set(scopesOf(person.role)),
      projects: person.projects,
      expiresAtMs: Date.parse(session.expiresAt),
      session: { id: session.id, rights: person.rights },
      sessionId: session.id,
      person,
      secret,
    };
  };
}

/** Who is signed in, in a route with the access `person`. */
export function requireSignedIn(who: Principal | null): SignedIn {
  if (who === null || !("person" in who)) {
    throw new Error("This handler needs a route with the access `person`");
  }
  return who as SignedIn;
}

/**
 * Starts a session of a person in the browser that sent a request, and ends its previous one.
 * @returns the `Set-Cookie` with the session's secret
 */
export async function signIn(
  { sql, now, facts }: {
    readonly sql: Sql;
    readonly now: () => number;
    readonly facts: RequestFacts;
  },
  exchange: PeerRequest,
  personId: string,
): Promise<string> {
  const at = facts.placeOf(exchange.request, exchange.peer);
  const earlier = cookieSecretOf(exchange, facts);
  if (earlier !== null) await endSessionOfSecret(sql, earlier);
  const { secret } = await startSession(sql, { personId, at, nowMs: now() });
  return sessionCookie(exchange, facts, secret);
}
