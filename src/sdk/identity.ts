import { eventId } from "./event_id.ts";
import type { Store } from "./store.ts";

/** Who the visitor is, read anew for each event: another tab may have changed it. */
export interface Identity {
  /** The members of an event that say who did it. */
  get(): { anonymousId: string; userId: string | null };
  identify(userId: string): void;
  reset(): void;
  optedOut(): boolean;
  optOut(): void;
  optIn(): void;
}

export function openIdentity(store: Store): Identity {
  const reset = () => ["userId", "anonymousId"].forEach(store.remove);
  return {
    get() {
      let anonymousId = store.get("anonymousId");
      if (!anonymousId) store.set("anonymousId", anonymousId = eventId());
      return { anonymousId, userId: store.get("userId") };
    },
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
