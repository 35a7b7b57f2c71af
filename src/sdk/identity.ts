import { eventId } from "./event_id.ts";
import type { Store } from "./store.ts";

/** Who the visitor is, read anew for each event: another tab may have changed it. */
export interface Identity {
  /** The members of an event that say who did it. */
  get(): { anonymousId: string; userId: string | null };
  /** An event's text as it is sent: by then tabs that opened at once see each other's ids, and one stands. */
  settled(text: string): string;
  identify(userId: string): void;
  reset(): void;
  optedOut(): boolean;
  optOut(): void;
  optIn(): void;
}

export function openIdentity(store: Store): Identity {
  /** The first id of a visitor without a user: another tab may have drawn one at the same time. */
  let first: string | undefined;
  function reset() {
    first = undefined;
    ["userId", "anonymousId"].forEach(store.remove);
  }
  return {
    get() {
      let anonymousId = store.get("anonymousId");
      const userId = store.get("userId");
      if (!anonymousId) store.set("anonymousId", anonymousId = eventId());
      if (!userId) first ??= anonymousId;
      return { anonymousId, userId };
    },
    settled: (text) => first ? text.replace(first, () => store.get("anonymousId") ?? first!) : text,
    identify: (userId) => store.set("userId", userId),
    reset,
    optedOut: () =>
      // Node.js before 21 has no navigator.
      !!(store.get("optOut") ??
        (globalThis.navigator as { globalPrivacyControl?: boolean } | undefined)
          ?.globalPrivacyControl),
    optOut() {
      reset();
      store.set("optOut", "1");
    },
    optIn: () => store.remove("optOut"),
  };
}
