import {
  GrowingTimeline,
  lastMsOf,
  type Timeline,
  type VisitActor,
} from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { passesSession, type SessionPasses } from "./session_test.ts";
import { type ScannedSession, SessionScan } from "./session_scan.ts";
import type { Visitor } from "./visitor.ts";

/** The sessions that a scan visits. */
export interface SessionChoice {
  readonly test: SessionPasses;
  /** Sessions must lie whole in it, or as far as the test looks: see `withWholeSessions`. */
  readonly reach: Span;
}

/** Who visits the sessions that pass. */
type NextVisitor = Pick<Visitor<unknown>, "wants"> & { readonly visit: VisitActor };

/** Hands each actor's passing sessions on, and the events in no session if those pass. */
export class PassingSessions {
  readonly #test: SessionPasses;
  readonly #left = new GrowingTimeline();
  readonly #scan: SessionScan;

  constructor({ test, reach }: SessionChoice, private readonly next: NextVisitor) {
    this.#test = test;
    this.#scan = new SessionScan(reach, (session) => this.#take(session));
  }

  visit(actor: number, timeline: Timeline): void {
    if (this.next.wants?.(lastMsOf(timeline)) === false) return;
    this.#left.segments = timeline.segments;
    this.#left.clear();
    this.#scan.visit(actor, timeline);
    if (this.#left.end > 0) this.next.visit(actor, this.#left, timeline);
  }

  #take(session: ScannedSession): void {
    const test = this.#test;
    const left = this.#left;
    const passes = passesSession(test, session);
    if (!session.hasOthers || passes === test.passesNone) {
      if (passes) session.forEachSlice((_, start, end, place) => left.add(place, start, end));
      return;
    }
    session.forEachSlice(({ traffics }, start, end, place) => {
      for (let at = start; at < end; at++) {
        if ((traffics[at] === 0) !== passes) left.add(place, at, at + 1);
      }
    });
  }
}
