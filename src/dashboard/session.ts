/// <reference lib="dom" />
import { computed, signal } from "@preact/signals";
import { ApiProblem, problemOf, unreachable } from "./api_problem.ts";
import { BASE_PATH } from "./base_path.ts";
import { commandText } from "./command.ts";
import { callByCookie } from "./cookie_call.ts";
import type { Session, SessionProject } from "./session_reply.ts";
import { tellTabs } from "./session_tabs.ts";
import { SHARE_ID } from "./share.ts";
import { claimsOf, type TokenClaims } from "./token_claims.ts";
import { type Account, fetchToken, type IssuedToken, keepLinkToken } from "./token_source.ts";
import { isTyping } from "./typing.ts";

export type { Session, SessionProject };

interface Held extends IssuedToken {
  readonly claims: TokenClaims;
  /** By this page's clock; a clock that is set while the page is open is what a 401 is for. */
  readonly renewAtMs: number;
}

/** `setTimeout` counts in 32 bits: a longer wait would end at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** A token is renewed before its end, so that no request arrives with one that has just ended. */
const RENEW_BEFORE_MS = 60_000;
export const EXPIRED_MESSAGE = `Your link has expired. Make a new one: ${
  commandText("token --link")
}`;
const ENDED_MESSAGE =
  "Your session has ended. Sign in again to go on here. If you cannot, ask an owner whether you still have an account.";
const ELSEWHERE_MESSAGE = "You signed out in another tab.";

/** Null while signed out, and until the token has been looked at. */
export const session = signal<Session | null>(null);
/** Why the sign-in page is shown; null: no reason to tell. */
export const signedOutMessage = signal<string | null>(null);
/** Why it is not known whether somebody is signed in; null: it is. */
export const outage = signal<ApiProblem | null>(null);
/** True while nobody is signed in, and what somebody was typing waits for them behind the sign-in page. */
export const isAwaited = signal(false);
export const isSignedIn = computed(() => session.value !== null && !isAwaited.value);
/** Counts the stays of people: what one has typed, asked or read is none of whoever comes next. */
export const stayNumber = signal(0);
/** Whose session it is; null: it is a link's. */
export const account = signal<Account | null>(null);
export const hasAccount = computed(() => account.value !== null);
/** Whom the sign-in page expects: whoever did not want to leave. */
export const lastEmail = signal("");
/** Changes with who is signed in and with what they may do, not with each renewal. */
export const identity = signal("");

let held: Held | null = null;
let renewing: Promise<string | null> | null = null;
let expiry: ReturnType<typeof setTimeout> | undefined;
/** What the requests of whoever is awaited wait for: a token of theirs; null: they do not come back. */
let awaitedToken = Promise.withResolvers<string | null>();

function messageOf({ code, detail }: ApiProblem): string {
  if (code === "expired_token") return EXPIRED_MESSAGE;
  if (code !== "invalid_token") return detail;
  return detail.includes("revoked")
    ? `Your link has been revoked. Make a new one: ${commandText("token --link")}`
    : `This token is not valid here. Copy it whole, or make a new one: ${
      commandText("token --link")
    }`;
}

function isRefusal(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && (error.status === 401 || error.status === 403);
}

/** Forgets the token. `message` says why, where the person did not ask for it. */
function dropToken(message: string | null): void {
  clearTimeout(expiry);
  const before = account.peek();
  if (message !== null && before !== null) lastEmail.value = before.email;
  keepLinkToken(null);
  held = null;
  signedOutMessage.value = message;
  outage.value = null;
}

/** Nobody is awaited any more. `token`: of whoever was, for their requests; null: they are given up. */
function endWait(token: string | null): void {
  isAwaited.value = false;
  awaitedToken.resolve(token);
  awaitedToken = Promise.withResolvers();
}

/** Forgets who was signed in. */
function forgetPerson(message: string | null): void {
  dropToken(message);
  account.value = null;
  identity.value = "";
  session.value = null;
  endWait(null);
}

/** After a session that ended by itself: what is being typed is kept until its person is back. */
function awaitPerson(message: string | null): void {
  if (!isTyping()) return forgetPerson(message);
  dropToken(message);
  isAwaited.value = true;
}

/** Who is signed in, or awaited; empty: nobody. Whoever looks at a share is the same one, whatever it is called. */
function currentPerson(): string {
  return SHARE_ID ?? account.peek()?.id ?? identity.peek();
}

function signedOut(): ApiProblem {
  return new ApiProblem(401, "signed_out", "You are signed out. Sign in again.");
}

/** Throws ApiProblem where the stay of that number is over: what it began is not done as somebody else. */
export function assertSameStay(stay: number): void {
  if (stay !== stayNumber.peek()) throw signedOut();
}

/** The session of a token. Throws ApiProblem where it is refused or the server is out of reach. */
async function fetchSession(bearer: string): Promise<Session> {
  try {
    const response = await fetch(`${BASE_PATH}/v1/session`, {
      headers: { Authorization: `Bearer ${bearer}` },
    });
    if (!response.ok) throw await problemOf(response);
    return await response.json();
  } catch (error) {
    throw unreachable(error);
  }
}

/** Whose a token is. Throws ApiProblem. */
async function sessionOf({ text, session: known }: IssuedToken): Promise<Session> {
  return known ?? await fetchSession(text);
}

/** A link's token cannot be renewed: the page ends with it, at once. */
function awaitExpiry({ expiresAt }: Session, { isRenewable }: IssuedToken): void {
  clearTimeout(expiry);
  const leftMs = Date.parse(expiresAt) - Date.now();
  if (isRenewable || leftMs >= TIMER_MS_MAX) return;
  expiry = setTimeout(() => {
    if (held?.isRenewable === false) void anotherToken(held.text);
  }, leftMs);
}

/** Takes up a token that the server has vouched for. */
function take(issued: IssuedToken, found: Session): void {
  const claims = claimsOf(issued.text);
  const lifetimeMs = claims.lifetimeMs ?? Date.parse(found.expiresAt) - Date.now();
  const renewAtMs = issued.isRenewable ? Date.now() + lifetimeMs - RENEW_BEFORE_MS : Infinity;
  const before = currentPerson();
  held = { ...issued, claims, renewAtMs };
  identity.value = claims.powers || issued.text;
  account.value = issued.account;
  session.value = found;
  const isSame = currentPerson() === before;
  if (!isSame) stayNumber.value++;
  endWait(isSame ? issued.text : null);
  signedOutMessage.value = null;
  outage.value = null;
  awaitExpiry(found, issued);
}

/** A new token of the same powers needs no second look at who it is. */
async function takeNext(issued: IssuedToken): Promise<void> {
  const isSame = claimsOf(issued.text).powers === held?.claims.powers && session.value !== null;
  take(issued, isSame ? session.value! : await sessionOf(issued));
}

async function renew(refused: Held, why: ApiProblem | null): Promise<string | null> {
  // The token of a link is behind the person now; their session may still be there.
  if (!refused.isRenewable) keepLinkToken(null);
  const issued = await fetchToken();
  if (held !== refused) return held?.text ?? null;
  if (issued !== null) {
    await takeNext(issued);
    return issued.text;
  }
  const ofLink = why === null ? EXPIRED_MESSAGE : messageOf(why);
  awaitPerson(refused.isRenewable ? ENDED_MESSAGE : ofLink);
  return null;
}

/**
 * The token after one that has ended or was refused; null where nobody is signed in any more. Those
 * who ask at the same time share one renewal.
 * @throws ApiProblem where the server cannot say.
 */
export async function anotherToken(
  refused: string,
  why: ApiProblem | null = null,
): Promise<string | null> {
  if (held !== null && held.text === refused) {
    renewing ??= renew(held, why).finally(() => renewing = null);
    await renewing;
  }
  return held?.text ?? (isAwaited.peek() ? await awaitedToken.promise : null);
}

/** The token for the next request, renewed where it is about to end. Throws ApiProblem. */
export async function bearerToken(): Promise<string> {
  const before = held;
  const text = before !== null && Date.now() < before.renewAtMs
    ? before.text
    : await anotherToken(before?.text ?? "");
  if (text !== null) return text;
  throw signedOut();
}

/** True for a token that is good for every project, those of the future included. */
export function isForEveryProject(): boolean {
  return held?.claims.isForEveryProject ?? false;
}

/** Looks at who is signed in anew, as after a project or a person was renamed. Throws ApiProblem. */
export async function refreshSession(): Promise<void> {
  const before = held;
  if (before === null) return;
  const issued = before.isRenewable ? await fetchToken() : before;
  if (held !== before) return;
  if (issued === null) awaitPerson(ENDED_MESSAGE);
  else take(issued, await fetchSession(issued.text));
}

/** Finds out who is signed in: by the link that was opened, by this tab, or by this browser. */
export async function resumeSession(): Promise<void> {
  let isLink = false;
  try {
    const issued = await fetchToken();
    if (issued === null) return awaitPerson(signedOutMessage.value);
    isLink = !issued.isRenewable;
    take(issued, await sessionOf(issued));
  } catch (error) {
    // An outage is no reason to throw a token away: the next try takes it up again.
    if (!isRefusal(error)) outage.value = unreachable(error) as ApiProblem;
    else {
      awaitPerson(messageOf(error));
      if (isLink) await resumeSession();
    }
  }
}

/** Tells the other tabs who is signed in here: they share the session of this browser. */
export function tellPerson(): void {
  const id = account.peek()?.id;
  if (id !== undefined) tellTabs(id);
}

/** After a session was begun: takes it up here and in the other tabs. Throws ApiProblem. */
export async function takeUpSession(): Promise<void> {
  keepLinkToken(null);
  const issued = await fetchToken();
  if (issued === null) {
    throw new ApiProblem(
      401,
      "cookie_refused",
      "You are signed in, but your browser kept no cookie. Allow cookies for this address, then sign in again.",
    );
  }
  take(issued, await sessionOf(issued));
  tellPerson();
}

/**
 * Signs in with a token, also with a whole link that ends in `#token=…`.
 * @throws ApiProblem where the server refuses it or cannot be reached.
 */
export async function signInByToken(tokenOrLink: string): Promise<void> {
  const text = tokenOrLink.trim();
  const bearer = text.slice(text.lastIndexOf("#token=") + 1).replace(/^token=/, "");
  const found = await fetchSession(bearer);
  keepLinkToken(bearer);
  take({ text: bearer, isRenewable: false, account: null }, found);
}

/** Ends the session of this browser, and forgets the token. Throws ApiProblem: nothing has ended. */
export async function signOut(): Promise<void> {
  try {
    await callByCookie("POST", "/v1/auth/sign-out");
  } catch (error) {
    // Who came by a link has no session to end.
    if (!isRefusal(error) && hasAccount.peek()) throw error;
  }
  forgetPerson(null);
  tellTabs(null);
}

/** Ends every session of the account, this one too. Throws ApiProblem: nothing has ended. */
export async function leaveEverywhere(): Promise<void> {
  await callByCookie("DELETE", "/v1/auth/sessions");
  forgetPerson("You are signed out everywhere.");
  tellTabs(null);
}

/**
 * What happens in another tab happens here, but to a tab that was opened by a token. `personId`: who is
 * signed in now; null: somebody signed out, and leaves nothing in any tab.
 */
export function hearTab(personId: string | null): void {
  if (held !== null && !held.isRenewable) return;
  if (personId === null) {
    if (session.peek() !== null) forgetPerson(ELSEWHERE_MESSAGE);
  } else if (held === null || account.peek()?.id !== personId) void resumeSession();
}

/** True where the token may do this: `read`, `write`, `jobs`, `admin` or `people`. */
export function hasScope(scope: string): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}
