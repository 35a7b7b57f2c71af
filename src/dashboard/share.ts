/// <reference lib="dom" />
import { computed, signal } from "@preact/signals";
import { ApiProblem } from "./api_problem.ts";
import { BASE_PATH } from "./base_path.ts";
import { callByCookie } from "./cookie_call.ts";
import type { Filter } from "./location_query.ts";
import type { ShareEntered } from "../shares/share_entry.ts";

type Entered = ShareEntered;

/** What a share shows, and of which project. */
export type SharedDashboard = Entered["share"];

/**
 * Why nothing is shown: the page asks for a password, the share is over, or the server does not allow shares.
 */
export type ShareGate = "password" | "over" | "closed";

function readShareId(): string | null {
  const path = globalThis.location?.pathname ?? "";
  if (!path.startsWith(`${BASE_PATH}/share/`)) return null;
  return decodeURIComponent(path.slice(`${BASE_PATH}/share/`.length));
}

/** The share that this page shows; null: the page is the dashboard behind a sign-in. */
export const SHARE_ID = readShareId();
/** Whether the page is in a frame of another page. */
export const isFramed = globalThis.top !== globalThis.self;

/** Null until the share is open. */
export const shared = signal<SharedDashboard | null>(null);
export const shareGate = signal<ShareGate | null>(null);
/** Why the typed password was refused; null: it was not. */
export const passwordFault = signal<string | null>(null);
/** The share's own filters, which cannot be removed. */
export const forcedFilters = computed<readonly Filter[]>(() => shared.value?.filters ?? []);

/** Kept only in memory, for the next token. */
let password: string | undefined;

/** Sets the password that the next attempt to open the share sends. */
export function usePassword(typed: string): void {
  password = typed;
}

/** Whether a view may be shown: in a share, only those that it names. */
export function showsView(id: string): boolean {
  return SHARE_ID === null || (shared.value?.views.some((each) => each === id) ?? false);
}

/** Fetches a token of the share; null: see `shareGate`. Throws ApiProblem. */
export async function enterShare(): Promise<Entered | null> {
  passwordFault.value = null;
  try {
    const path = `/v1/shares/${encodeURIComponent(SHARE_ID ?? "")}/token`;
    const entered = (await callByCookie<Entered>("POST", path, { password }))!;
    shareGate.value = null;
    if (JSON.stringify(entered.share) !== JSON.stringify(shared.peek())) {
      shared.value = entered.share;
    }
    return entered;
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const { code, detail } = error;
    if (code === "not_found") shareGate.value = "over";
    else if (code === "conflict") shareGate.value = "closed";
    else if (code === "password_required") shareGate.value = "password";
    else if (code === "invalid_password" || code === "too_many_attempts") {
      shareGate.value = "password";
      passwordFault.value = detail;
      password = undefined;
    } else throw error;
    return null;
  }
}
