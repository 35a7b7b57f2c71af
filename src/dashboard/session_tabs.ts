/// <reference lib="dom" />
import { BASE_PATH } from "./base_path.ts";

let channel: BroadcastChannel | null = null;

/** Follows who is signed in in other tabs; null: nobody any more. Called once. */
export function followTabs(onPerson: (personId: string | null) => void): void {
  channel = new BroadcastChannel(`footfall-person${BASE_PATH}`);
  channel.addEventListener("message", ({ data }) => onPerson(data));
}

/** Announces to the other tabs who is signed in now; null: nobody any more. */
export function announceToTabs(personId: string | null): void {
  channel?.postMessage(personId);
}
