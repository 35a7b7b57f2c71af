import { type IntegerColumn, narrowed } from "./column.ts";

/**
 * Some events of a project, as columns: in the order of who did them, then of time, then of the
 * events' ids. Whose they are is told by identity, which an event keeps for good, not by actor.
 */
export interface Segment {
  /** The first and the last moment, in epoch milliseconds; less than 2^31 apart. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Each identity once, ascending. Those of place i did the events from `starts[i]` to before `starts[i + 1]`. */
  readonly identities: Int32Array;
  readonly starts: Uint32Array;
  /** Milliseconds since `fromMs`. */
  readonly times: Uint32Array;
  /** Ids of terms; path 0: none. */
  readonly names: IntegerColumn;
  readonly paths: IntegerColumn;
  /** Ids of contexts: negative ones are bots'. */
  readonly contexts: IntegerColumn;
  /** Ids of traffic: where the event itself says that it came from; 0 where it is in no session. */
  readonly traffics: IntegerColumn;
  /** Of each scroll event, in order, how deep it went as a fraction of the page; NaN: unknown. */
  readonly depths: Float64Array;
  /** 16 bytes an event. */
  readonly ids: Uint8Array;
}

/** One event, as a segment is built from it. */
export interface HistoryEvent {
  readonly identity: number;
  readonly ms: number;
  /** 16 bytes. */
  readonly id: Uint8Array;
  readonly name: number;
  readonly path: number;
  readonly context: number;
  /** 0: belongs to no session. */
  readonly traffic: number;
  /** NaN where there is none. */
  readonly depth: number;
}

export const ID_BYTES = 16;
const SCROLL = 3;

/** Order of ids by their bytes, as PostgreSQL orders uuids. */
export function compareIds(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  for (let i = 0; i < ID_BYTES; i++) {
    const difference = a[aAt + i]! - b[bAt + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Columns while they are filled, as wide as may be needed. */
class SegmentBuilder {
  readonly #identities: number[] = [];
  readonly #starts: number[] = [];
  readonly #depths: number[] = [];
  readonly #ms: Float64Array;
  readonly #names: Int32Array;
  readonly #paths: Int32Array;
  readonly #contexts: Int32Array;
  readonly #traffics: Int32Array;
  readonly #ids: Uint8Array;
  #length = 0;

  constructor(events: number) {
    this.#ms = new Float64Array(events);
    this.#names = new Int32Array(events);
    this.#paths = new Int32Array(events);
    this.#contexts = new Int32Array(events);
    this.#traffics = new Int32Array(events);
    this.#ids = new Uint8Array(events * ID_BYTES);
  }

  /** What follows is of this identity. */
  open(identity: number): void {
    if (this.#identities.at(-1) === identity) return;
    this.#identities.push(identity);
    this.#starts.push(this.#length);
  }

  add(event: HistoryEvent): void {
    const at = this.#length++;
    this.#ms[at] = event.ms;
    this.#names[at] = event.name;
    this.#paths[at] = event.path;
    this.#contexts[at] = event.context;
    this.#traffics[at] = event.traffic;
    if (event.name === SCROLL) this.#depths.push(event.depth);
    this.#ids.set(event.id, at * ID_BYTES);
  }

  /** Null where nothing was added. */
  end(): Segment | null {
    const length = this.#length;
    if (length === 0) return null;
    this.#starts.push(length);
    let fromMs = Infinity;
    let toMs = -Infinity;
    const times = new Uint32Array(length);
    for (let i = 0; i < length; i++) {
      const ms = this.#ms[i]!;
      if (ms < fromMs) fromMs = ms;
      if (ms > toMs) toMs = ms;
    }
    for (let i = 0; i < length; i++) times[i] = this.#ms[i]! - fromMs;
    return {
      fromMs,
      toMs,
      identities: Int32Array.from(this.#identities),
      starts: Uint32Array.from(this.#starts),
      times,
      names: narrowed(this.#names.subarray(0, length)),
      paths: narrowed(this.#paths.subarray(0, length)),
      contexts: narrowed(this.#contexts.subarray(0, length)),
      traffics: narrowed(this.#traffics.subarray(0, length)),
      depths: Float64Array.from(this.#depths),
      ids: this.#ids.subarray(0, length * ID_BYTES),
    };
  }
}

/** A segment of events that are in its order already; null where there are none. */
export function segmentOf(events: readonly HistoryEvent[]): Segment | null {
  const builder = new SegmentBuilder(events.length);
  for (const event of events) {
    builder.open(event.identity);
    builder.add(event);
  }
  return builder.end();
}

/** Events of one identity that lie side by side in a segment. */
interface Run {
  readonly segment: Segment;
  readonly scrollsBefore: Uint32Array;
  readonly identity: number;
  readonly start: number;
  readonly end: number;
}

/** How many scrolls lie before each event: which depth is its. */
function countScrolls({ names }: Segment): Uint32Array {
  const before = new Uint32Array(names.length);
  let scrolls = 0;
  for (let i = 0; i < names.length; i++) {
    before[i] = scrolls;
    if (names[i] === SCROLL) scrolls++;
  }
  return before;
}

function eventAt({ segment, scrollsBefore, identity }: Run, at: number): HistoryEvent {
  const name = segment.names[at]!;
  return {
    identity,
    ms: segment.fromMs + segment.times[at]!,
    id: segment.ids.subarray(at * ID_BYTES, (at + 1) * ID_BYTES),
    name,
    path: segment.paths[at]!,
    context: segment.contexts[at]!,
    traffic: segment.traffics[at]!,
    depth: name === SCROLL ? segment.depths[scrollsBefore[at]!]! : NaN,
  };
}

/** Events of one identity, in order. */
function* eventsOf(runs: readonly Run[]): Iterable<HistoryEvent> {
  if (runs.length === 1) {
    const run = runs[0]!;
    for (let at = run.start; at < run.end; at++) yield eventAt(run, at);
    return;
  }
  const events = runs.flatMap((run) => [...eventsOf([run])]);
  yield* events.sort((a, b) => a.ms - b.ms || compareIds(a.id, 0, b.id, 0));
}

/** What may stay: events of an identity at a moment. */
export type Keeps = (identity: number, ms: number) => boolean;

/** One segment of those events of several that are kept; null where none is. */
export function mergeSegments(
  segments: readonly Segment[],
  keeps: Keeps = () => true,
): Segment | null {
  const runs: Run[] = [];
  let length = 0;
  for (const segment of segments) {
    const scrollsBefore = countScrolls(segment);
    length += segment.times.length;
    segment.identities.forEach((identity, i) => {
      const [start, end] = [segment.starts[i]!, segment.starts[i + 1]!];
      runs.push({ segment, scrollsBefore, identity, start, end });
    });
  }
  runs.sort((a, b) => a.identity - b.identity);
  const builder = new SegmentBuilder(length);
  for (let from = 0, to = 0; from < runs.length; from = to) {
    const { identity } = runs[from]!;
    while (to < runs.length && runs[to]!.identity === identity) to++;
    for (const event of eventsOf(runs.slice(from, to))) {
      if (!keeps(identity, event.ms)) continue;
      builder.open(identity);
      builder.add(event);
    }
  }
  return builder.end();
}
