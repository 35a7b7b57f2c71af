/// <reference lib="dom" />
import { ApiProblem } from "./api_problem.ts";
import { callByCookie } from "./cookie_call.ts";
import type { Session } from "./session_reply.ts";
import { enterShare, SHARE_ID } from "./share.ts";
import type { PersonShown } from "../auth/people/people.ts";
import type { output } from "zod";

/** A person who has an account here. */
export type Account = output<typeof PersonShown>;

/** A token, and whether there may be another one when it ends. */
export interface IssuedToken {
  readonly text: string;
  /** False for the token of a link: when it ends, whoever came by it is signed out. */
  readonly isRenewable: boolean;
  /** Whose session gave it; null: nobody's. */
  readonly account: Account | null;
  /** Whose it is, where that came with it. */
  readonly session?: Session;
}

const STORAGE_KEY = "footfall.token";
let inMemory: string | null = null;

/** Storage is refused in some private windows; the token then lives as long as the page. */
function stored(): string | null {
  try {
    return sessionStorage.getItem(STORAGE_KEY);
  } catch {
    return inMemory;
  }
}

/** Keeps the token of a link for this tab; null forgets it. */
export function keepLinkToken(token: string | null): void {
  // The page of a share knows nothing of who else uses this tab.
  if (SHARE_ID !== null) return;
  inMemory = token;
  try {
    if (token === null) sessionStorage.removeItem(STORAGE_KEY);
    else sessionStorage.setItem(STORAGE_KEY, token);
  } catch { /* memory has it */ }
}

/** The token of a link's fragment, which leaves the address bar and the history at once. */
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
 * Where this page's tokens come from: the link that it was opened by, else the session of this
 * browser, which gives a short-lived one as often as it is asked. Null: nobody is signed in.
 * @throws ApiProblem where the server cannot say.
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
