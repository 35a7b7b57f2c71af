import type { Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type ScannedSession, SessionScan } from "./session_scan.ts";
import { passesSession, type SessionPasses } from "./session_test.ts";
import type { Visitor, VisitorKind } from "./visitor.ts";

/** A filter on a session's field, and the bit that it sets. */
export interface SessionBits {
  readonly test: SessionPasses;
  readonly word: number;
  readonly bit: number;
}

interface Inputs {
  /** Whether the bits are in words: see `FilterBits`. */
  readonly isWide: boolean;
  /** Sessions must lie whole in it. */
  readonly reach: Span;
  readonly filters: readonly SessionBits[];
}

/**
 * Sets the bit of each filter at the events whose session passes it; events in no session pass negative
 * filters. Several threads may write into a column: each sets the numbers of its own actors' events.
 */
class SessionBitSetter implements Visitor<null> {
  readonly #scan: SessionScan;

  constructor(private readonly inputs: Inputs, private readonly words: readonly Int32Array[]) {
    this.#scan = new SessionScan(inputs.reach, (session) => this.#setBits(session));
  }

  visit(actor: number, timeline: Timeline): void {
    this.#scan.visit(actor, timeline);
  }

  result(): null {
    return null;
  }

  #setBits(session: ScannedSession): void {
    for (const filter of this.inputs.filters) {
      const passes = passesSession(filter.test, session);
      if (passes || filter.test.passesNone) this.#set(session, filter, passes);
    }
  }

  #set(session: ScannedSession, { test, word, bit }: SessionBits, passes: boolean): void {
    const { passesNone } = test;
    const { isWide } = this.inputs;
    session.forEachSlice(({ traffics, filterBits }, start, end) => {
      for (let at = start; at < end; at++) {
        if (!(traffics[at] === 0 ? passesNone : passes)) continue;
        if (isWide) this.words[word]![filterBits[at]!]! |= bit;
        else filterBits[at]! |= bit;
      }
    });
  }
}

/** Writes into the columns of the part, and counts nothing. */
export const SESSION_BITS: VisitorKind<Inputs, null> = {
  name: "session bits",
  create: (inputs, words) => new SessionBitSetter(inputs, words),
  merge: () => null,
};
