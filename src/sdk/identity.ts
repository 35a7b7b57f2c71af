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
  optedOut(): unknown;
  optOut(): void;
  optIn(): void;
}

/** The id of this page's first event: other tabs may have drawn theirs at the same time. */
let first: string | undefined;
/** The one that stands of these, as this page first sends: a later one is of somebody else. */
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
    // Who is known is never given another id: `null` alone begins with an n.
    settled: (text) =>
      text.split(`"${first}","userId":n`)
        .join(`${JSON.stringify(standing ??= store.get("anonymousId") ?? first)},"userId":n`),
    identify: (userId) => store.set("userId", userId),
    reset,
    optedOut: () =>
      // Node.js before 21 has no navigator.
      store.get("optOut") ??
        (globalThis.navigator as { globalPrivacyControl?: boolean } | undefined)
          ?.globalPrivacyControl,
    optOut() {
      reset();
      store.set("optOut", 1);
      // It stays after `optIn`, and is never the same: what a tab holds from before it is not sent.
      store.set("era", Math.random());
    },
    optIn: () => store.delete("optOut"),
  };
}
