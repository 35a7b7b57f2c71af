import type { Span } from "../query/selection.ts";
import { type ScannedSession, SessionScan } from "./session_scan.ts";
import { passesSession, type SessionPasses } from "./session_test.ts";
import type { VisitorKind } from "./visitor.ts";

/** A filter on a session's field, and the bit that it sets. */
export interface SessionBits {
  readonly test: SessionPasses;
  readonly word: number;
  readonly bit: number;
}

interface Inputs {
  /** Whether the bits are in words: see `FilterBits`. */
  readonly isWide: boolean;
  /** Sessions must lie whole in it, or as far as the tests look: see `withWholeSessions`. */
  readonly reach: Span;
  readonly filters: readonly SessionBits[];
}

/**
 * Sets the bit of each filter at the events whose session passes it; events in no session pass negative
 * filters. Several threads may write into a column: each sets the numbers of its own actors' events.
 */
export const SESSION_BITS: VisitorKind<Inputs, null> = {
  name: "session bits",
  create: ({ isWide, reach, filters }, words) => {
    const set = (session: ScannedSession, { test, word, bit }: SessionBits, passes: boolean) => {
      const { passesNone } = test;
      session.forEachSlice(({ traffics, filterBits }, start, end) => {
        for (let at = start; at < end; at++) {
          if (!(traffics[at] === 0 ? passesNone : passes)) continue;
          if (isWide) words[word]![filterBits[at]!]! |= bit;
          else filterBits[at]! |= bit;
        }
      });
    };
    const scan = new SessionScan(reach, (session) => {
      for (const filter of filters) {
        const passes = passesSession(filter.test, session);
        if (passes || filter.test.passesNone) set(session, filter, passes);
      }
    });
    return { visit: (actor, timeline) => scan.visit(actor, timeline), result: () => null };
  },
  merge: () => null,
};
