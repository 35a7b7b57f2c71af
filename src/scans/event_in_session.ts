import { CLICK, PAGE_VIEW, RESERVED_TERM_MAX, SCROLL } from "../reserved_terms.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { EventTest } from "./event_test.ts";
import type { ScannedSession } from "./session_scan.ts";

/** Tells whether a session holds an event that passes a test. */
export class EventInSession {
  /** Whether the test needs no lazy column. */
  readonly #needsNoBits: boolean;
  /** Whether page views, custom events, clicks or scrolls may pass. */
  readonly #takesViews: boolean;
  readonly #takesCustoms: boolean;
  readonly #takesClicksOrScrolls: boolean;
  #actor = -1;
  #isFound = false;
  readonly #visitSlice = (segment: LoadedSegment, start: number, end: number) => {
    if (!this.#isFound) this.#isFound = this.#seek(segment, start, end);
  };

  constructor(private readonly test: EventTest) {
    this.#needsNoBits = test.needsNoBits;
    const { names } = test;
    this.#takesViews = names === null || names[PAGE_VIEW] === 1;
    this.#takesCustoms = names === null || names.indexOf(1, RESERVED_TERM_MAX + 1) >= 0;
    this.#takesClicksOrScrolls = names === null || names[CLICK] === 1 || names[SCROLL] === 1;
  }

  isIn(session: ScannedSession): boolean {
    const { actor, views, customs } = session;
    // The session holds all of its first page view except the properties.
    if (
      views > 0 && this.#needsNoBits &&
      this.test.passes(PAGE_VIEW, session.entryPath, session.context, actor, 0)
    ) return true;
    const mayBeIn = this.#takesViews && views > (this.#needsNoBits ? 1 : 0) ||
      this.#takesCustoms && customs > 0 ||
      this.#takesClicksOrScrolls;
    if (!mayBeIn) return false;
    this.#actor = actor;
    this.#isFound = false;
    session.forEachSlice(this.#visitSlice);
    return this.#isFound;
  }

  #seek(segment: LoadedSegment, start: number, end: number): boolean {
    const { traffics } = segment;
    const next = (from: number) => this.test.next(segment, from, end, this.#actor);
    for (let at = next(start); at < end; at = next(at + 1)) if (traffics[at] !== 0) return true;
    return false;
  }
}
