import { type IntegerColumn, narrowed } from "./column.ts";
import { Pace } from "./pace.ts";

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
  /** Ids of terms, and of referrers; 0: none. */
  readonly titles: IntegerColumn;
  readonly referrers: IntegerColumn;
  /** 16 bytes an event. */
  readonly ids: Uint8Array;
  /** Which events have properties, ascending. */
  readonly propertied: Uint32Array;
  /** Where the text of each of these ends in `texts`; it is empty where it was too long to be held. */
  readonly textEnds: Uint32Array;
  /** Their properties, as JSON in UTF-8. */
  readonly texts: Uint8Array;
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
  readonly title: number;
  readonly referrer: number;
  /** NaN where there is none. */
  readonly depth: number;
  /** As JSON in UTF-8, empty where they are too long to be held; null: there are none. */
  readonly properties: Uint8Array | null;
}

export const ID_BYTES = 16;
const SCROLL = 3;
/** Events between two looks at the clock. */
const EVENTS_UNTIMED = 2_000;

/** Order of ids by their bytes, as PostgreSQL orders uuids. */
export function compareIds(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  for (let i = 0; i < ID_BYTES; i++) {
    const difference = a[aAt + i]! - b[bAt + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Which events are scrolls, ascending: each has a depth. */
export function scrollsOf({ names, depths }: Pick<Segment, "names" | "depths">): Uint32Array {
  const scrolls = new Uint32Array(depths.length);
  let count = 0;
  for (let at = 0; at < names.length; at++) if (names[at] === SCROLL) scrolls[count++] = at;
  return scrolls;
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
  readonly #titles: Int32Array;
  readonly #referrers: Int32Array;
  readonly #ids: Uint8Array;
  readonly #propertied: number[] = [];
  readonly #textEnds: number[] = [];
  readonly #texts: Uint8Array;
  #textBytes = 0;
  #length = 0;

  constructor(events: number, textBytes: number) {
    this.#ms = new Float64Array(events);
    this.#names = new Int32Array(events);
    this.#paths = new Int32Array(events);
    this.#contexts = new Int32Array(events);
    this.#traffics = new Int32Array(events);
    this.#titles = new Int32Array(events);
    this.#referrers = new Int32Array(events);
    this.#ids = new Uint8Array(events * ID_BYTES);
    this.#texts = new Uint8Array(textBytes);
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
    this.#titles[at] = event.title;
    this.#referrers[at] = event.referrer;
    if (event.name === SCROLL) this.#depths.push(event.depth);
    this.#ids.set(event.id, at * ID_BYTES);
    if (event.properties !== null) this.#addText(at, event.properties);
  }

  #addText(at: number, text: Uint8Array): void {
    this.#texts.set(text, this.#textBytes);
    this.#textBytes += text.length;
    this.#propertied.push(at);
    this.#textEnds.push(this.#textBytes);
  }

  /** An event of another segment. */
  copy({ segment, at, scroll, text }: CopiedEvent): void {
    const to = this.#length++;
    const name = segment.names[at]!;
    this.#ms[to] = segment.fromMs + segment.times[at]!;
    this.#names[to] = name;
    this.#paths[to] = segment.paths[at]!;
    this.#contexts[to] = segment.contexts[at]!;
    this.#traffics[to] = segment.traffics[at]!;
    this.#titles[to] = segment.titles[at]!;
    this.#referrers[to] = segment.referrers[at]!;
    if (name === SCROLL) this.#depths.push(segment.depths[scroll]!);
    for (let i = 0; i < ID_BYTES; i++) {
      this.#ids[to * ID_BYTES + i] = segment.ids[at * ID_BYTES + i]!;
    }
    if (segment.propertied[text] !== at) return;
    const { texts, textEnds } = segment;
    this.#addText(to, texts.subarray(textEnds[text - 1] ?? 0, textEnds[text]!));
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
      titles: narrowed(this.#titles.subarray(0, length)),
      referrers: narrowed(this.#referrers.subarray(0, length)),
      ids: this.#ids.subarray(0, length * ID_BYTES),
      propertied: Uint32Array.from(this.#propertied),
      textEnds: Uint32Array.from(this.#textEnds),
      texts: this.#texts.subarray(0, this.#textBytes),
    };
  }
}

/** A segment of events that are in its order already; null where there are none. */
export function segmentOf(events: readonly HistoryEvent[]): Segment | null {
  const textBytes = events.reduce((sum, { properties }) => sum + (properties?.length ?? 0), 0);
  const builder = new SegmentBuilder(events.length, textBytes);
  for (const event of events) {
    builder.open(event.identity);
    builder.add(event);
  }
  return builder.end();
}

/** Goes through the runs of a segment: what one identity did lies side by side. */
class RunReader {
  #run = 0;
  /** How many scrolls, and how many events with properties, lie before the run. */
  #scrolls = 0;
  #texts = 0;

  constructor(readonly segment: Segment) {}

  /** Whose the run is; past the last one nobody's. */
  get identity(): number {
    return this.segment.identities[this.#run] ?? Infinity;
  }

  /** Its events, as places to copy from; goes on to the next run. */
  take(): CopiedEvent[] {
    const { segment } = this;
    const events: CopiedEvent[] = [];
    const end = segment.starts[this.#run + 1]!;
    for (let at = segment.starts[this.#run]!; at < end; at++) {
      const ms = segment.fromMs + segment.times[at]!;
      events.push({ segment, at, ms, scroll: this.#scrolls, text: this.#texts });
      if (segment.names[at] === SCROLL) this.#scrolls++;
      if (segment.propertied[this.#texts] === at) this.#texts++;
    }
    this.#run++;
    return events;
  }
}

/** An event of a segment. */
interface CopiedEvent {
  readonly segment: Segment;
  readonly at: number;
  readonly ms: number;
  /** Which of the segment's depths is its, if it is a scroll, and which text, if it has properties. */
  readonly scroll: number;
  readonly text: number;
}

function compareEvents(a: CopiedEvent, b: CopiedEvent): number {
  return a.ms - b.ms ||
    compareIds(a.segment.ids, a.at * ID_BYTES, b.segment.ids, b.at * ID_BYTES);
}

/** What may stay: events of an identity at a moment. */
export type Keeps = (identity: number, ms: number) => boolean;

/**
 * One segment of those events of several that are kept; null where none is. Others have their turn
 * meanwhile: a million events take some tenths of a second.
 */
export async function mergeSegments(
  segments: readonly Segment[],
  keeps: Keeps = () => true,
): Promise<Segment | null> {
  const readers = segments.map((segment) => new RunReader(segment));
  const builder = new SegmentBuilder(
    segments.reduce((sum, { times }) => sum + times.length, 0),
    segments.reduce((sum, { texts }) => sum + texts.length, 0),
  );
  const pace = new Pace();
  let untimed = 0;
  for (;;) {
    let identity = Infinity;
    for (const reader of readers) identity = Math.min(identity, reader.identity);
    if (identity === Infinity) return builder.end();
    const own = readers.filter((reader) => reader.identity === identity);
    const events = own.length === 1
      ? own[0]!.take()
      : own.flatMap((reader) => reader.take()).sort(compareEvents);
    for (const event of events) {
      if (!keeps(identity, event.ms)) continue;
      builder.open(identity);
      builder.copy(event);
    }
    untimed += events.length;
    if (untimed < EVENTS_UNTIMED) continue;
    untimed = 0;
    if (pace.isOver()) await pace.pause();
  }
}
