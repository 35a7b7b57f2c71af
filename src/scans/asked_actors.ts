import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { bitsOfPassing, nameBit, pathBit } from "../timelines/run_bits.ts";
import type { RunBits, Timeline } from "../timelines/timeline.ts";
import { type EventPasses, EventTest } from "./event_test.ts";
import type { SessionPasses } from "./session_test.ts";
import type { Visitor, VisitorKind } from "./visitor.ts";

/**
 * The actors that a scan asks about: those with an event that passes `events`, and with one that may begin a
 * session that passes `sessions`; null: no such condition.
 */
export interface Asked {
  readonly events: EventPasses | null;
  readonly sessions: SessionPasses | null;
}

export const ALL_ACTORS: Asked = { events: null, sessions: null };

/** Drops conditions that (nearly) all actors meet: any event that is not a bot's, or any session. */
export function narrowing({ events, sessions }: Asked): Asked {
  const isOfFew = events !== null &&
    (events.paths !== null || events.contexts !== null || events.actors !== null ||
      events.contextMax < 0 || events.bits.some((word) => word !== 0) ||
      isOfFewNames(events.names));
  const isOfSome = sessions !== null && !sessions.passesNone &&
    (sessions.traffics !== null || sessions.entryPaths !== null);
  return { events: isOfFew ? events : null, sessions: isOfSome ? sessions : null };
}

/**
 * Whether under half of the names pass. More pass where only technical names are excluded, which narrows
 * little.
 */
function isOfFewNames(names: Uint8Array | null): boolean {
  return names !== null && 2 * names.reduce((sum, passes) => sum + passes, 0) < names.length;
}

interface Inputs extends Asked {
  /** By actor, in shared memory: 1 is written here if it has such an event; null: not asked. */
  readonly withEvent: Uint8Array | null;
  readonly withSession: Uint8Array | null;
}

/**
 * Finds the asked actors run by run, and skips those already found. Runs of a segment are adjacent in memory,
 * so this takes a quarter of the time of visiting all actors, which then need not be done for the others.
 */
class AskedActors implements Visitor<null> {
  readonly #events: EventTest | null;
  readonly #sessions: SessionPasses | null;
  readonly #withEvent: Uint8Array | null;
  readonly #withSession: Uint8Array | null;

  /** The bits of runs that may have such an event: see run_bits.ts. */
  readonly #bits: RunBits;

  constructor({ events, sessions, withEvent, withSession }: Inputs, words: readonly Int32Array[]) {
    this.#events = events === null ? null : new EventTest(events, words);
    this.#sessions = sessions;
    this.#bits = {
      names: bitsOfPassing(events?.names ?? null, nameBit),
      paths: bitsOfPassing(events?.paths ?? null, pathBit),
    };
    this.#withEvent = withEvent;
    this.#withSession = withSession;
  }

  visit(actor: number, { first, segments, segmentOf, starts, ends, runBits }: Timeline): void {
    this.#look(segments[segmentOf[first]!]!, actor, starts[first]!, ends[first]!, runBits[first]!);
  }

  visitRuns(segment: LoadedSegment, from: number, to: number, actorOf: Int32Array): void {
    const { identities, starts, ends, runBits } = segment;
    for (let run = from; run < to; run++) {
      this.#look(segment, actorOf[identities[run]!]!, starts[run]!, ends[run]!, runBits[run]!);
    }
  }

  /** Checks a run of an actor. Several threads may find the same actor; they write the same value. */
  #look(segment: LoadedSegment, actor: number, start: number, end: number, bits: number): void {
    const withEvent = this.#withEvent;
    if (
      withEvent !== null && withEvent[actor] === 0 && (bits & this.#bits.names) !== 0 &&
      (bits & this.#bits.paths) !== 0
    ) {
      if (this.#events!.next(segment, start, end, actor) < end) withEvent[actor] = 1;
    }
    const withSession = this.#withSession;
    if (withSession !== null && withSession[actor] === 0) {
      if (this.#hasSession(segment, start, end)) withSession[actor] = 1;
    }
  }

  /** Whether an event has a traffic and a path that a passing session may begin with. */
  #hasSession({ traffics, paths }: LoadedSegment, start: number, end: number): boolean {
    const { traffics: ofTraffic, entryPaths } = this.#sessions!;
    for (let at = start; at < end; at++) {
      const traffic = traffics[at]!;
      if (traffic === 0 || ofTraffic !== null && ofTraffic[traffic] !== 1) continue;
      if (entryPaths === null || entryPaths[paths[at]!] === 1) return true;
    }
    return false;
  }

  result(): null {
    return null;
  }
}

/** Writes into the columns of its inputs, and counts nothing. */
export const ASKED_ACTORS: VisitorKind<Inputs, null> = {
  name: "asked actors",
  create: (inputs, words) => new AskedActors(inputs, words),
  merge: () => null,
};
