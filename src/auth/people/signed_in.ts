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

/** Who asks with a cookie, by which session. */
export interface SignedIn extends Principal {
  readonly person: Person;
  readonly sessionId: string;
  /** The cookie's secret. */
  readonly secret: string;
}

/** What there is to know of a request besides itself. */
export interface RequestFacts {
  readonly ownAddress: (request: Request, peer: string | null) => OwnAddress;
  /** Device, place and address of who sent it. */
  readonly placeOf: (request: Request, peer: string | null) => SessionPlace;
  readonly basePath: string;
}

/** A request, and the address of whoever sent it. */
type PeerRequest = Pick<ApiExchange, "request" | "peer">;

const NAME = "footfall";
/** Browsers take a cookie of such a name only by https, and one of the first only from this very host. */
const SECURE_PREFIXES = ["__Host-", "__Secure-"] as const;

function cookieName(name: string, isHttps: boolean, basePath: string): string {
  if (!isHttps) return name;
  return SECURE_PREFIXES[basePath === "" ? 0 : 1] + name;
}

/** The cookies of a request; of several of one name the first, which has the longest path. */
function cookiesOf(request: Request): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [name = "", ...value] = part.split("=");
    if (!cookies.has(name.trim())) cookies.set(name.trim(), value.join("=").trim());
  }
  return cookies;
}

/**
 * What a request's cookie holds. One of the unprotected name could be another host's: it counts only
 * where the page does not come by https.
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

/**
 * Whether the browser that asks has the page by https. Where no proxy is trusted to say so, its own
 * page's `Origin` does.
 */
function isByHttps({ request, peer }: PeerRequest, facts: RequestFacts): boolean {
  const own = facts.ownAddress(request, peer);
  if (own.isHttps) return true;
  const origin = request.headers.get("origin") ?? "";
  return origin.startsWith("https://") && originOf(request, own) === "own";
}

/** A `Set-Cookie` for so many seconds, as protected as the page's address allows; none: it goes. */
function setCookie(exchange: PeerRequest, facts: RequestFacts, cookie: BriefCookie): string {
  const isHttps = isByHttps(exchange, facts);
  const { basePath } = facts;
  return `${cookieName(cookie.name, isHttps, basePath)}=${cookie.value}; ` +
    `Path=${basePath === "" ? "/" : basePath}; ` +
    `Max-Age=${cookie.seconds}; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`;
}

/** The `Set-Cookie` that holds a session's secret for as long as it may go unused. */
export function sessionCookie(exchange: PeerRequest, facts: RequestFacts, secret: string): string {
  const seconds = secret === "" ? 0 : SESSION_UNUSED_MS_MAX / 1000;
  return setCookie(exchange, facts, { name: NAME, value: secret, seconds });
}

/** What a browser keeps between two requests of one sign-in. */
export interface BriefCookie {
  /** `oidc` */
  readonly name: string;
  readonly value: string;
  readonly seconds: number;
}

/** The `Set-Cookie` of it. */
export function briefCookie(
  exchange: PeerRequest,
  facts: RequestFacts,
  cookie: BriefCookie,
): string {
  return setCookie(exchange, facts, { ...cookie, name: `${NAME}-${cookie.name}` });
}

/** What the browser kept under this name; null: nothing. */
export function briefCookieValue(
  exchange: PeerRequest,
  facts: RequestFacts,
  name: string,
): string | null {
  return cookieValue(exchange, facts, `${NAME}-${name}`);
}

/** The `Set-Cookie` that takes it away. */
export function endedCookie(exchange: PeerRequest, facts: RequestFacts): string {
  return sessionCookie(exchange, facts, "");
}

/**
 * Throws `foreign_origin` (403) where a browser says that another site's page asks, and with
 * `mustSay` where nobody says that it is one of ours.
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
 * A function that says who is signed in where a request comes from. What changes something by cookie
 * must come from a page of ours. Throws `no_session` (401), `foreign_origin` (403).
 */
export function createSignedIn(
  sql: Sql,
  facts: RequestFacts,
  now: () => number,
): (request: Request, peer: string | null) => Promise<SignedIn> {
  return async (request, peer) => {
    const secret = cookieSecretOf({ request, peer }, facts);
    // Without the cookie nothing is changed by it, wherever that comes from.
    if (secret !== null && !SAFE_METHODS.has(request.method)) {
      assertOwnOrigin({ request, peer }, facts, true);
    }
    const found = secret === null ? null : await sessionOf(sql, secret, now());
    if (secret === null || found === null) {
      throw new Problem("no_session", "You are signed out here. Sign in.");
    }
    const { person, session } = found;
    // What cannot be written now is written with the next use.
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

/** Who asks, in a route of the access `person`. */
export function requireSignedIn(who: Principal | null): SignedIn {
  if (who === null || !("person" in who)) {
    throw new Error("This handler needs a route of the access `person`");
  }
  return who as SignedIn;
}

/**
 * Starts a session of a person where a request comes from, in the place of the one that is there.
 * @returns the `Set-Cookie` of it
 */
export async function signIn(
  { sql, now, facts }: {
    readonly sql: Sql;
    readonly now: () => number;
    readonly facts: RequestFacts;
  },
  exchange: PeerRequest,
  personId: string,
): Promise<{ readonly sessionId: string; readonly cookie: string }> {
  const at = facts.placeOf(exchange.request, exchange.peer);
  const earlier = cookieSecretOf(exchange, facts);
  if (earlier !== null) await endSessionOfSecret(sql, earlier);
  const { sessionId, secret } = await startSession(sql, { personId, at, nowMs: now() });
  return { sessionId, cookie: sessionCookie(exchange, facts, secret) };
}
