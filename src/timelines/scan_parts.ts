import type { Sql } from "../db/sql.ts";
import { type Blocks, blocksOf, countWhile, type SegmentHead } from "../store/segment_head.ts";
import type { SegmentReader } from "../store/segment_reader.ts";
import { fetchBlocks, type StoredHead, type WantedBlocks } from "../store/stored_segments.ts";
import { HOT_COLUMNS } from "../store/segment_columns.ts";
import { decodeBlocks, type DecodedBlocks, type PerformDecoding } from "./block_decoding.ts";
import { type LoadedSegment, pickedSegment, slicedSegment } from "./loaded_segment.ts";
import { OpenBlocks } from "./open_blocks.ts";
import { PartsInTurn, type ReadPart, type SegmentsPart } from "./parts_in_turn.ts";
import { SpreadEvents } from "./spread_events.ts";
import { MemoryScope, type SharedMemory } from "./shared_memory.ts";
import { yielding } from "../store/yielding.ts";

/** A part has half of the events that may be in memory at once: while it is visited the next is read. */
const PART_SHARE = 1 / 2;
/**
 * Beside the parts, so many may be kept in blocks that the next part begins in, and as many of actors
 * who are in several parts.
 */
const BESIDE_SHARE = 1 / 2;
/** Events of blocks that are fetched and decoded at once. */
const EVENTS_DECODED = 1_000_000;

/** Events of a block: the last may have fewer. */
function eventsOf({ events, blockEvents }: SegmentHead, { first, end }: Blocks): number {
  return Math.min(end * blockEvents, events) - first * blockEvents;
}

/** Identities from the first of a block on, and how many events they have. */
interface Piece {
  readonly identity: number;
  readonly events: number;
}

/** Each block, cut into pieces of as many identities where it has more events than these. */
function* piecesOf(head: SegmentHead, eventsMax: number): Generator<Piece> {
  for (const [block, from] of head.firstIdentities.entries()) {
    const events = eventsOf(head, { first: block, end: block + 1 });
    const identities = (head.firstIdentities[block + 1] ?? head.lastIdentity) - from + 1;
    const count = Math.min(identities, Math.ceil(events / eventsMax));
    for (let i = 0; i < count; i++) {
      yield { identity: from + Math.floor(i * identities / count), events: events / count };
    }
  }
}

/**
 * Where ranges of identities begin whose events are about so many. All events of an identity are in
 * one range, however many they are.
 */
export function rangeStarts(heads: readonly SegmentHead[], eventsMax: number): number[] {
  // Blocks of all segments may begin at one identity: together they are not to be too many.
  const pieceMax = eventsMax / (2 * heads.length);
  const pieces = heads.flatMap((head) => [...piecesOf(head, pieceMax)])
    .sort((a, b) => a.identity - b.identity);
  const starts = [0];
  let events = 0;
  for (const piece of pieces) {
    if (events > 0 && events + piece.events > eventsMax && piece.identity > starts.at(-1)!) {
      starts.push(piece.identity);
      events = 0;
    }
    events += piece.events;
  }
  return starts;
}

/** 1 at each actor whose identities lie in several of the ranges that begin there. */
export function spreadActors(actorOf: Int32Array, starts: readonly number[]): Uint8Array {
  const rangeOf = (identity: number) =>
    countWhile(starts.length, (range) => starts[range]! <= identity);
  const isSpread = new Uint8Array(actorOf.length);
  for (let identity = 0; identity < actorOf.length; identity++) {
    const actor = actorOf[identity]!;
    if (actor !== identity && rangeOf(actor) !== rangeOf(identity)) isSpread[actor] = 1;
  }
  return isSpread;
}

/** The blocks of a segment with any of these identities, which are ascending, or between two of them. */
export function blocksWith(head: SegmentHead, identities: Int32Array): Blocks[] {
  const found: Blocks[] = [];
  const { firstIdentities, lastIdentity } = head;
  for (let block = 0; block < firstIdentities.length; block++) {
    const last = firstIdentities[block + 1] ?? lastIdentity;
    const next = countWhile(identities.length, (i) => identities[i]! < firstIdentities[block]!);
    if (!(identities[next]! <= last)) continue;
    const before = found.at(-1);
    if (before?.end === block) found[found.length - 1] = { first: before.first, end: block + 1 };
    else found.push({ first: block, end: block + 1 });
  }
  return found;
}

/** Groups of blocks that are decoded together. */
function batchesOf(wanted: readonly WantedBlocks[]): WantedBlocks[][] {
  const batches: WantedBlocks[][] = [];
  let left = 0;
  for (const one of wanted) {
    const events = eventsOf(one.head, one.blocks);
    if (events > left || batches.length === 0) {
      batches.push([]);
      left = EVENTS_DECODED;
    }
    left -= events;
    batches.at(-1)!.push(one);
  }
  return batches;
}

/** Whether the next range, from the identity `to` on, begins in the last of these blocks. */
function isOpen({ head, blocks: { end } }: WantedBlocks, to: number): boolean {
  return (head.firstIdentities[end] ?? head.lastIdentity) >= to;
}

/** The blocks, the last of them apart where it is open. */
function openApart(wanted: WantedBlocks, to: number): WantedBlocks[] {
  const { first, end } = wanted.blocks;
  if (first >= end) return [];
  if (end - first === 1 || !isOpen(wanted, to)) return [wanted];
  const last = end - 1;
  return [{ first, end: last }, { first: last, end }].map((blocks) => ({ ...wanted, blocks }));
}

/** Blocks that were fetched together, and a reader of each. */
interface FetchedBlocks {
  readonly batch: readonly WantedBlocks[];
  readonly readers: readonly SegmentReader[];
}

/** Whose events are read of a range of identities. */
interface KeptOfRange {
  readonly keeps: (identity: number) => boolean;
  /** Where the next range begins. */
  readonly to: number;
  readonly open: OpenBlocks;
  /** Sees all blocks that are read. */
  readonly see: (decoded: DecodedBlocks) => void;
}

/** Reads into a scope, which is given back where that fails. */
type ReadSegments = (memory: MemoryScope) => Promise<LoadedSegment[]>;

/** What parts are read of. */
export interface PartSource {
  readonly sql: Sql;
  readonly projectId: number;
  readonly heads: readonly StoredHead[];
  readonly actorOf: Int32Array;
  /** About how many events are in memory at once. */
  readonly eventsMax: number;
  readonly memory: SharedMemory;
  /** Has blocks decoded. */
  readonly perform: PerformDecoding;
}

/** Reads a project's segments part by part, where they are too large to be read as a whole. */
export class PartReader {
  readonly #sql: Sql;
  readonly #projectId: number;
  readonly #heads: readonly StoredHead[];
  readonly #actorOf: Int32Array;
  readonly #eventsMax: number;
  readonly #memory: SharedMemory;
  readonly #perform: PerformDecoding;

  constructor(source: PartSource) {
    this.#sql = source.sql;
    this.#projectId = source.projectId;
    this.#heads = source.heads;
    this.#actorOf = source.actorOf;
    this.#eventsMax = source.eventsMax;
    this.#memory = source.memory;
    this.#perform = source.perform;
  }

  /**
   * The actors of each range of identities, then those whose identities lie in several ranges: as they
   * were gathered meanwhile or, where they did too much, as many at a time as have so many events. A
   * part is gone when the next is asked for.
   */
  async *parts(): AsyncGenerator<SegmentsPart> {
    const actorOf = this.#actorOf;
    const starts = rangeStarts(this.#heads.map(({ head }) => head), PART_SHARE * this.#eventsMax);
    const isSpread = spreadActors(actorOf, starts);
    const memory = new MemoryScope(this.#memory);
    const spread = new SpreadEvents(actorOf, isSpread, BESIDE_SHARE * this.#eventsMax, memory);
    const openMemory = new MemoryScope(this.#memory);
    const open = new OpenBlocks(BESIDE_SHARE * this.#eventsMax, openMemory);
    try {
      const reads = starts.entries().map(([range, from]) => () => {
        const to = starts[range + 1] ?? actorOf.length;
        const wanted = this.#heads.map((stored): WantedBlocks => ({
          ...stored,
          blocks: blocksOf(stored.head, from, to - 1),
        }));
        const keeps = (identity: number) =>
          identity >= from && identity < to && isSpread[actorOf[identity]!] === 0;
        const see = (decoded: DecodedBlocks) => spread.add(decoded, from, to);
        return this.#part((memory) => this.#readRange(wanted, memory, { keeps, to, open, see }));
      });
      yield* new PartsInTurn(reads).parts();
      openMemory.release();
      const { segments } = spread;
      if (segments !== null && segments.length > 0) yield { segments, memory, readOn: () => {} };
    } finally {
      openMemory.release();
      memory.release();
    }
    if (spread.segments === null) yield* this.#spreadParts(spread.eventsOf);
  }

  async *#spreadParts(eventsOf: ReadonlyMap<number, number>): AsyncGenerator<SegmentsPart> {
    const actorOf = this.#actorOf;
    const groups = groupsOf(eventsOf, PART_SHARE * this.#eventsMax);
    const reads = groups.map((actors) => () => {
      const identities = Int32Array.from(
        actorOf.keys().filter((identity) => actors.has(actorOf[identity]!)),
      );
      const wanted = this.#heads.flatMap((stored) =>
        blocksWith(stored.head, identities).map((blocks): WantedBlocks => ({ ...stored, blocks }))
      );
      const keeps = (identity: number) => actors.has(actorOf[identity]!);
      return this.#part((memory) => this.#readPicked(wanted, memory, keeps));
    });
    yield* new PartsInTurn(reads).parts();
  }

  async #part(read: ReadSegments): Promise<ReadPart> {
    const memory = new MemoryScope(this.#memory);
    try {
      return { segments: await read(memory), memory };
    } catch (error) {
      memory.release();
      throw error;
    }
  }

  /** Of blocks that are mostly kept, the runs of those who are kept: the blocks stay as they are. */
  async #readRange(
    wanted: readonly WantedBlocks[],
    memory: MemoryScope,
    { keeps, to, open, see }: KeptOfRange,
  ): Promise<LoadedSegment[]> {
    const turn = yielding();
    // In the order of the segments, whatever is read when: timelines are built of them in that order.
    const found = new Map<WantedBlocks, DecodedBlocks | null>();
    const unread: WantedBlocks[] = [];
    for (const one of wanted) {
      const known = open.find(one);
      if (known !== null) found.set(known.wanted, known);
      const first = known?.wanted.blocks.end ?? one.blocks.first;
      const rest = { ...one, blocks: { first, end: one.blocks.end } };
      for (const blocks of openApart(rest, to)) {
        found.set(blocks, null);
        unread.push(blocks);
      }
    }
    for await (const one of this.#decoded(unread, memory)) found.set(one.wanted, one);
    const decoded = [...found.values()].filter((one) => one !== null);
    const segments: LoadedSegment[] = [];
    for (const one of decoded) {
      see(one);
      const segment = slicedSegment(one, keeps, memory.take);
      if (segment !== null) segments.push(segment);
      await turn();
    }
    open.settle(decoded, (blocks) => isOpen(blocks, to), memory);
    return segments;
  }

  /** Of blocks that have a few events of those who are kept, these events. */
  async #readPicked(
    wanted: readonly WantedBlocks[],
    memory: MemoryScope,
    keeps: (identity: number) => boolean,
  ): Promise<LoadedSegment[]> {
    const turn = yielding();
    const segments: LoadedSegment[] = [];
    const blocks = new MemoryScope(this.#memory);
    try {
      for await (const one of this.#decoded(wanted, blocks)) {
        const segment = pickedSegment(one, keeps, memory.take);
        if (segment !== null) segments.push(segment);
        blocks.giveBack(one.columns.times);
        await turn();
      }
    } finally {
      blocks.release();
    }
    return segments;
  }

  /** Blocks one after the other, which lie in `memory`. */
  async *#decoded(
    wanted: readonly WantedBlocks[],
    memory: MemoryScope,
  ): AsyncGenerator<DecodedBlocks> {
    for await (const { batch, readers } of this.#fetched(wanted)) {
      const decoded = await decodeBlocks(batch, readers, this.#memory, this.#perform);
      for (const { columns: { times } } of decoded) memory.own(times);
      yield* decoded;
    }
  }

  /** Blocks, some of them together: the next of them are fetched while these are decoded. */
  async *#fetched(wanted: readonly WantedBlocks[]): AsyncGenerator<FetchedBlocks> {
    const batches = batchesOf(wanted).values();
    const fetchNext = (): Promise<FetchedBlocks | null> => {
      const { value: batch } = batches.next();
      if (batch === undefined) return Promise.resolve(null);
      const fetching = fetchBlocks(this.#sql, this.#projectId, batch, HOT_COLUMNS)
        .then((readers) => ({ batch, readers }));
      // Why it failed is told once it is their turn.
      fetching.catch(() => {});
      return fetching;
    };
    let next = fetchNext();
    try {
      for (let here = await next; here !== null; here = await next) {
        next = fetchNext();
        yield here;
      }
    } finally {
      // The database is asked for nothing any more once this has ended.
      await next.catch(() => {});
    }
  }
}

/** Actors in groups of about so many events, ascending. */
function* groupsOf(
  eventsOf: ReadonlyMap<number, number>,
  eventsMax: number,
): Generator<ReadonlySet<number>> {
  let group = new Set<number>();
  let left = eventsMax;
  for (const [actor, events] of [...eventsOf].sort(([a], [b]) => a - b)) {
    if (group.size > 0 && events > left) {
      yield group;
      group = new Set();
      left = eventsMax;
    }
    group.add(actor);
    left -= events;
  }
  if (group.size > 0) yield group;
}
