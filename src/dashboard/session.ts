/// <reference lib="dom" />
import { computed, signal } from "@preact/signals";
import { ApiProblem, problemOf, unreachable } from "./api_problem.ts";
import { BASE_PATH } from "./base_path.ts";
import { commandText } from "./command.ts";
import { callByCookie } from "./cookie_call.ts";
import type { Session, SessionProject } from "./session_reply.ts";
import { announceToTabs } from "./session_tabs.ts";
import { SHARE_ID } from "./share.ts";
import { claimsOf, type TokenClaims } from "./token_claims.ts";
import { type Account, fetchToken, type IssuedToken, keepLinkToken } from "./token_source.ts";
import { isTyping } from "./typing.ts";

export type { Session, SessionProject };

interface Held extends IssuedToken {
  readonly claims: TokenClaims;
  /** By this page's clock. If that is set while the page is open, a 401 leads to a renewal. */
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

/** Null while signed out, and until the token has been checked. */
export const session = signal<Session | null>(null);
/** Why the sign-in page is shown; null: there is no reason to show. */
export const signedOutMessage = signal<string | null>(null);
/** Why it is unknown whether somebody is signed in; null: it is known. */
export const outage = signal<ApiProblem | null>(null);
/** True while the sign-in page is above a form that somebody was filling in when their session ended. */
export const isAwaited = signal(false);
export const isSignedIn = computed(() => session.value !== null && !isAwaited.value);
/** Changes when another person signs in, who must not get what the one before typed, asked or read. */
export const stayNumber = signal(0);
/** The account of the session; null: the token is a link's. */
export const account = signal<Account | null>(null);
export const hasAccount = computed(() => account.value !== null);
/** The e-mail address that the sign-in page fills in: of the session that ended by itself. */
export const lastEmail = signal("");
/** Changes with the person and their permissions, not with each renewal. */
export const identity = signal("");

let held: Held | null = null;
let renewing: Promise<string | null> | null = null;
let expiry: ReturnType<typeof setTimeout> | undefined;
/** Requests of a person who is awaited wait for their next token; null: they do not come back. */
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

/** Forgets the token. `message` says why; null: the person asked for it. */
function dropToken(message: string | null): void {
  clearTimeout(expiry);
  const before = account.peek();
  if (message !== null && before !== null) lastEmail.value = before.email;
  keepLinkToken(null);
  held = null;
  signedOutMessage.value = message;
  outage.value = null;
}

/** Ends the wait for a person. `token`: theirs, for the requests that wait; null: these fail. */
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

/** After a session ended by itself: keeps what is being typed until its person is back. */
function awaitPerson(message: string | null): void {
  if (!isTyping()) return forgetPerson(message);
  dropToken(message);
  isAwaited.value = true;
}

/** Identifies who is signed in or awaited; empty: nobody. A share's viewers are one person. */
function currentPerson(): string {
  return SHARE_ID ?? account.peek()?.id ?? identity.peek();
}

function signedOut(): ApiProblem {
  return new ApiProblem(401, "signed_out", "You are signed out. Sign in again.");
}

/** Throws ApiProblem if another person has signed in since: nothing is continued in their name. */
export function assertSameStay(stay: number): void {
  if (stay !== stayNumber.peek()) throw signedOut();
}

/** Fetches the session of a token. Throws ApiProblem if it is refused or the server is unreachable. */
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

/** The session of a token, fetched unless it came with it. Throws ApiProblem. */
async function sessionOf({ text, session: known }: IssuedToken): Promise<Session> {
  return known ?? await fetchSession(text);
}

/** Ends the page's session when a link's token expires: it cannot be renewed. */
function awaitExpiry({ expiresAt }: Session, { isRenewable }: IssuedToken): void {
  clearTimeout(expiry);
  const leftMs = Date.parse(expiresAt) - Date.now();
  if (isRenewable || leftMs >= TIMER_MS_MAX) return;
  expiry = setTimeout(() => {
    if (held?.isRenewable === false) void anotherToken(held.text);
  }, leftMs);
}

/** Begins to use a token that the server has accepted. */
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

/** Begins to use a renewed token; fetches its session only if its permissions changed. */
async function takeNext(issued: IssuedToken): Promise<void> {
  const isSame = claimsOf(issued.text).powers === held?.claims.powers && session.value !== null;
  take(issued, isSame ? session.value! : await sessionOf(issued));
}

async function renew(refused: Held, why: ApiProblem | null): Promise<string | null> {
  // A link's token has ended; the browser may still have a session.
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
 * The token after one that has ended or was refused; null: nobody is signed in any more. Concurrent calls
 * share one renewal.
 * @throws ApiProblem if the server does not answer.
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

/** The token for the next request, renewed if it is about to end. Throws ApiProblem. */
export async function bearerToken(): Promise<string> {
  const before = held;
  const text = before !== null && Date.now() < before.renewAtMs
    ? before.text
    : await anotherToken(before?.text ?? "");
  if (text !== null) return text;
  throw signedOut();
}

/** Whether the token is valid for every project, including future ones. */
export function isForEveryProject(): boolean {
  return held?.claims.isForEveryProject ?? false;
}

/** Fetches the session again, as after a project or a person was renamed. Throws ApiProblem. */
export async function refreshSession(): Promise<void> {
  const before = held;
  if (before === null) return;
  const issued = before.isRenewable ? await fetchToken() : before;
  if (held !== before) return;
  if (issued === null) awaitPerson(ENDED_MESSAGE);
  else take(issued, await fetchSession(issued.text));
}

/** Finds out who is signed in: by an opened link, by this tab's token, or by the browser's session. */
export async function resumeSession(): Promise<void> {
  let isLink = false;
  try {
    const issued = await fetchToken();
    if (issued === null) return awaitPerson(signedOutMessage.value);
    isLink = !issued.isRenewable;
    take(issued, await sessionOf(issued));
  } catch (error) {
    // During an outage the token is kept for the next try.
    if (!isRefusal(error)) outage.value = unreachable(error) as ApiProblem;
    else {
      awaitPerson(messageOf(error));
      if (isLink) await resumeSession();
    }
  }
}

/** Announces to the other tabs who is signed in: they share the browser's session. */
export function announcePerson(): void {
  const id = account.peek()?.id;
  if (id !== undefined) announceToTabs(id);
}

/** Begins to use a new session, here and in the other tabs. Throws ApiProblem. */
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
  announcePerson();
}

/**
 * Signs in with a token, or with a whole link that ends in `#token=…`.
 * @throws ApiProblem if the server refuses it or cannot be reached.
 */
export async function signInByToken(tokenOrLink: string): Promise<void> {
  const text = tokenOrLink.trim();
  const bearer = text.slice(text.lastIndexOf("#token=") + 1).replace(/^token=/, "");
  const found = await fetchSession(bearer);
  keepLinkToken(bearer);
  take({ text: bearer, isRenewable: false, account: null }, found);
}

/** Ends the session of this browser, and forgets the token. If it throws ApiProblem, nothing has ended. */
export async function signOut(): Promise<void> {
  try {
    await callByCookie("POST", "/v1/auth/sign-out");
  } catch (error) {
    // With a link's token there is no session to end.
    if (!isRefusal(error) && hasAccount.peek()) throw error;
  }
  forgetPerson(null);
  announceToTabs(null);
}

/** Ends all sessions of the account, this one too. If it throws ApiProblem, nothing has ended. */
export async function leaveEverywhere(): Promise<void> {
  await callByCookie("DELETE", "/v1/auth/sessions");
  forgetPerson("You are signed out everywhere.");
  announceToTabs(null);
}

/**
 * Follows a sign-in or sign-out of another tab, unless this tab was opened by a token.
 * @param personId who is signed in now; null: nobody, and what they saw leaves this tab too
 */
export function followOtherTab(personId: string | null): void {
  if (held !== null && !held.isRenewable) return;
  if (personId === null) {
    if (session.peek() !== null) forgetPerson(ELSEWHERE_MESSAGE);
  } else if (held === null || account.peek()?.id !== personId) void resumeSession();
}

/** Whether the token has a scope: `read`, `write`, `jobs`, `admin` or `people`. */
export function hasScope(scope: string): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}
