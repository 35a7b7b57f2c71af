/// <reference lib="dom" />
import { computed, signal } from "@preact/signals";
import { ApiProblem, problemOf, unreachable } from "./api_problem.ts";
import { BASE_PATH } from "./base_path.ts";
import type { Filter } from "./location_query.ts";
import type { ShareEntered } from "../shares/share_entry.ts";

type Entered = ShareEntered;

/** What a share shows, and of what. */
export type SharedDashboard = Entered["share"];

/**
 * Why nothing is shown: the page asks for a password, there is nothing to be seen any more, or the
 * server shares nothing.
 */
export type ShareGate = "password" | "over" | "closed";

function readShareId(): string | null {
  const path = globalThis.location?.pathname ?? "";
  if (!path.startsWith(`${BASE_PATH}/share/`)) return null;
  return decodeURIComponent(path.slice(`${BASE_PATH}/share/`.length));
}

/** The share that this page shows; null: it is the dashboard of people who sign in. */
export const SHARE_ID = readShareId();
/** Whether the page stands in another page's frame. */
export const isFramed = globalThis.top !== globalThis.self;

/** Null until the share is open. */
export const shared = signal<SharedDashboard | null>(null);
export const shareGate = signal<ShareGate | null>(null);
/** Why the password that was typed does not open it. */
export const passwordFault = signal<string | null>(null);
/** What is always looked at: none of it can be taken off. */
export const forcedFilters = computed<readonly Filter[]>(() => shared.value?.filters ?? []);

/** Kept in memory alone, to come by the next token. */
let password: string | undefined;

/** Takes the password that the next attempt to open the share sends. */
export function usePassword(typed: string): void {
  password = typed;
}

/** Whether a view may be shown: in a share those that it names. */
export function showsView(id: string): boolean {
  return SHARE_ID === null || (shared.value?.views.some((each) => each === id) ?? false);
}

async function enter(): Promise<Entered> {
  try {
    const id = encodeURIComponent(SHARE_ID ?? "");
    const response = await fetch(`${BASE_PATH}/v1/shares/${id}/token`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ password }),
    });
    if (!response.ok) throw await problemOf(response);
    return await response.json();
  } catch (error) {
    throw unreachable(error);
  }
}

/** A token of the share; null: it asks for a password, or there is none. Throws ApiProblem. */
export async function enterShare(): Promise<Entered | null> {
  passwordFault.value = null;
  try {
    const entered = await enter();
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
