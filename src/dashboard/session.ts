/// <reference lib="dom" />
import { computed, signal } from "@preact/signals";
import { problemOf, unreachable } from "./api_problem.ts";
import { BASE_PATH } from "./base_path.ts";
import { commandText } from "./command.ts";

export interface SessionProject {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  readonly siteUrl: string | null;
}

/** Who the token is: the reply of `GET /v1/session`. */
export interface Session {
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly projects: readonly SessionProject[];
  readonly expiresAt: string;
}

const STORAGE_KEY = "footfall.token";
/** `setTimeout` counts in 32 bits: a longer wait would end at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
export const EXPIRED_MESSAGE = `Your link has expired. Make a new one: ${
  commandText("token --link")
}`;

/** The bearer token, in memory and in this tab's storage alone; null: signed out. */
export const token = signal<string | null>(null);
/** Null while signed out, and until the token has been looked at. */
export const session = signal<Session | null>(null);
/** Why the sign-in page is shown; null: no reason to tell. */
export const signedOutMessage = signal<string | null>(null);
export const isSignedIn = computed(() => session.value !== null);

let expiry: ReturnType<typeof setTimeout> | undefined;

/** Storage is refused in some private windows; the token then lives as long as the page. */
function store(value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(STORAGE_KEY);
    else sessionStorage.setItem(STORAGE_KEY, value);
  } catch { /* memory has it */ }
}

function stored(): string | null {
  try {
    return sessionStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

/** The token of a link's fragment, which leaves the address bar and the history at once. */
function takeFragment(): string | null {
  const match = /^#token=(.+)$/.exec(location.hash);
  if (match === null) return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  return match[1]!;
}

/** Forgets the token. `message` says why, where the person did not ask for it. */
export function signOut(message: string | null = null): void {
  clearTimeout(expiry);
  store(null);
  token.value = null;
  session.value = null;
  signedOutMessage.value = message;
}

function messageOf(code: string, detail: string): string {
  if (code === "expired_token") return EXPIRED_MESSAGE;
  if (code === "invalid_token") {
    return detail.includes("revoked")
      ? `Your link has been revoked. Make a new one: ${commandText("token --link")}`
      : `This token is not valid here. Copy it whole, or make a new one: ${
        commandText("token --link")
      }`;
  }
  return detail;
}

/** The sign-out that a refused token leads to. */
export function refuseToken(code: string, detail: string): void {
  signOut(messageOf(code, detail));
}

function awaitExpiry({ expiresAt }: Session): void {
  clearTimeout(expiry);
  const leftMs = Date.parse(expiresAt) - Date.now();
  if (leftMs < TIMER_MS_MAX) expiry = setTimeout(() => signOut(EXPIRED_MESSAGE), leftMs);
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

/**
 * Signs in with a token, also with a whole link that ends in `#token=…`.
 * @throws ApiProblem where the server refuses it or cannot be reached.
 */
export async function signIn(tokenOrLink: string): Promise<void> {
  const text = tokenOrLink.trim();
  const bearer = text.slice(text.lastIndexOf("#token=") + 1).replace(/^token=/, "");
  const found = await fetchSession(bearer);
  store(bearer);
  token.value = bearer;
  session.value = found;
  signedOutMessage.value = null;
  awaitExpiry(found);
}

/** Looks at the token anew, as after a project was made or renamed. Throws ApiProblem. */
export async function refreshSession(): Promise<void> {
  if (token.value !== null) session.value = await fetchSession(token.value);
}

/** Takes up the token of the link that was opened, or of this tab; true where there was one. */
export async function resumeSession(): Promise<boolean> {
  const bearer = takeFragment() ?? stored();
  if (bearer === null) return false;
  try {
    await signIn(bearer);
  } catch (error) {
    const { status, code, detail } = error as { status: number; code: string; detail: string };
    // An outage is no reason to throw the token away: the next load tries it again.
    if (status === 401 || status === 403) refuseToken(code, detail);
    else {
      store(bearer);
      signedOutMessage.value = detail;
    }
  }
  return true;
}

/** True where the token may do this: `read`, `write`, `jobs` or `admin`. */
export function hasScope(scope: string): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}
