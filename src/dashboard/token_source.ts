/// <reference lib="dom" />
import { ApiProblem } from "./api_problem.ts";
import { callByCookie } from "./cookie_call.ts";
import type { Session } from "./session_reply.ts";
import { enterShare, SHARE_ID } from "./share.ts";
import type { PersonShown } from "../auth/people/people.ts";
import type { output } from "zod";

/** A person's account. */
export type Account = output<typeof PersonShown>;

/** A token, and whether it can be renewed. */
export interface IssuedToken {
  readonly text: string;
  /** False for the token of a link, whose end signs out. */
  readonly isRenewable: boolean;
  /** The account whose session it comes from; null: it does not come from one. */
  readonly account: Account | null;
  /** The session, if the server sent it along. */
  readonly session?: Session;
}

const STORAGE_KEY = "footfall.token";
let inMemory: string | null = null;

/** The tab's stored token. Some private windows refuse storage: then it lasts as long as the page. */
function stored(): string | null {
  try {
    return sessionStorage.getItem(STORAGE_KEY);
  } catch {
    return inMemory;
  }
}

/** Keeps the token of a link for this tab; null forgets it. */
export function keepLinkToken(token: string | null): void {
  // A share must not change who is signed in in this tab.
  if (SHARE_ID !== null) return;
  inMemory = token;
  try {
    if (token === null) sessionStorage.removeItem(STORAGE_KEY);
    else sessionStorage.setItem(STORAGE_KEY, token);
  } catch { /* memory has it */ }
}

/** Takes the token of a link's fragment, and removes it from the address bar and the history. */
function takeFragment(): string | null {
  const match = /^#token=(.+)$/.exec(location.hash);
  if (match === null) return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  return match[1]!;
}

/** A token of the share that this page shows; null: it shows none. */
async function fetchShareToken(): Promise<IssuedToken | null> {
  const entered = await enterShare();
  if (entered === null) return null;
  const { token, expiresAt, share: { project } } = entered;
  const session = {
    subject: "",
    scopes: ["aggregates"],
    projects: [{ ...project, siteUrl: null }],
    expiresAt,
  };
  return { text: token, isRenewable: true, account: null, session };
}

/**
 * Fetches a token for this page: that of the link that opened it, else a short-lived one from the browser's
 * session. Null: nobody is signed in.
 * @throws ApiProblem if the server does not answer.
 */
export async function fetchToken(): Promise<IssuedToken | null> {
  if (SHARE_ID !== null) return await fetchShareToken();
  const linked = takeFragment();
  if (linked !== null) keepLinkToken(linked);
  const text = stored();
  if (text !== null) return { text, isRenewable: false, account: null };
  try {
    const issued = await callByCookie<{ token: string; person: Account }>("POST", "/v1/auth/token");
    return { text: issued!.token, isRenewable: true, account: issued!.person };
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) return null;
    throw error;
  }
}
