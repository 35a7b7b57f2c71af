import { eventId } from "./event_id.ts";
import type { Store } from "./store.ts";

/** Who the visitor is, read anew for each event: another tab may have changed it. */
export interface Identity {
  /** The members of an event that say who did it. */
  get(): { anonymousId: string; userId: string | null };
  /** An event's text as it is sent, with the id that won if tabs drew several at the same time. */
  settled(text: string): string;
  identify(userId: string): void;
  reset(): void;
  optedOut(): unknown;
  optOut(): void;
  optIn(): void;
}

/** The id of this page's first event: other tabs may have drawn theirs at the same time. */
let first: string | undefined;
/** The one of these that won, read when this page first sends an event of its own; a later one is somebody else's. */
let standing: string | undefined;

export function openIdentity(store: Store): Identity {
  function reset() {
    first = standing = undefined;
    store.delete("anonymousId");
    store.delete("userId");
  }
  return {
    get() {
      let anonymousId = store.get("anonymousId");
      if (!anonymousId) store.set("anonymousId", anonymousId = eventId());
      first ??= anonymousId;
      return { anonymousId, userId: store.get("userId") };
    },
    // Only events without a user id change: no other value than `null` begins with an n.
    settled: (text) =>
      text.replaceAll(
        `"${first}","userId":n`,
        () => `${JSON.stringify(standing ??= store.get("anonymousId") ?? first)},"userId":n`,
      ),
    optedOut: () =>
      // Node.js before 21 has no navigator.
      store.get("optOut") ??
        (globalThis.navigator as { globalPrivacyControl?: boolean } | undefined)
          ?.globalPrivacyControl,
    identify: (userId) => store.set("userId", userId),
    reset,
    optIn: () => store.delete("optOut"),
    optOut() {
      reset();
      // The era is unique, and kept after `optIn`: no tab sends events from before it. It comes first,
      // as other tabs see the changes one after the other. Any text opts out; this one is shortest.
      store.set("optOut", store.set("era", Math.random()));
    },
  };
}
