import type { Sql } from "../db/sql.ts";
import { batchesOf } from "../store/batches.ts";
import {
  type Blocks,
  blocksOf,
  blocksWithAny,
  countWhile,
  type SegmentHead,
} from "../store/segment_head.ts";
import { fetchBlocks, type StoredHead, type WantedBlocks } from "../store/stored_segments.ts";
import { HOT_COLUMNS } from "../store/segment_columns.ts";
import { decodeBlocks, type DecodedBlocks, type PerformDecoding } from "./block_decoding.ts";
import { type LoadedSegment, slicedSegment } from "./loaded_segment.ts";
import { oneAhead } from "./one_ahead.ts";
import { OpenBlocks } from "./open_blocks.ts";
import { PartsInTurn, type ReadPart, type SegmentsPart } from "./parts_in_turn.ts";
import { pickedColumns, runColumns } from "./segment_slice.ts";
import { SpreadEvents } from "./spread_events.ts";
import { MemoryScope, type SharedMemory } from "./shared_memory.ts";
import { yielding } from "../store/yielding.ts";

/** A part's share of the events that may be in memory: the next part is read while one is visited. */
const PART_SHARE = 1 / 2;
/** The share of open blocks, in addition to the parts; that of spread actors is the same. */
const EXTRA_SHARE = 1 / 2;
/** The most events in blocks that are fetched and decoded together. */
const EVENTS_DECODED = 1_000_000;

/** Returns the number of events in blocks; the last block of a segment may have fewer. */
function eventsOf({ events, blockEvents }: SegmentHead, { first, end }: Blocks): number {
  return Math.min(end * blockEvents, events) - first * blockEvents;
}

/** Adjacent identities of a block, from the first on, with their number of events. */
interface Piece {
  readonly identity: number;
  readonly events: number;
}

/** Returns how much memory an event of a segment takes, relative to the average event. */
type WeightIn = (head: SegmentHead) => number;

/**
 * Yields the pieces of blocks: those with more than `eventsMax` events are cut into pieces with equally many
 * identities. Heavier events count as more.
 */
function* piecesOf(head: SegmentHead, eventsMax: number, weightIn: WeightIn): Generator<Piece> {
  const weight = weightIn(head);
  for (const [block, from] of head.firstIdentities.entries()) {
    const events = weight * eventsOf(head, { first: block, end: block + 1 });
    const identities = (head.firstIdentities[block + 1] ?? head.lastIdentity) - from + 1;
    const count = Math.min(identities, Math.ceil(events / eventsMax));
    for (let i = 0; i < count; i++) {
      yield { identity: from + Math.floor(i * identities / count), events: events / count };
    }
  }
}

/**
 * Divides identities into ranges of about `eventsMax` events. All events of an identity are in one range,
 * however many they are.
 * @returns the first identity of each range
 */
export function rangeStarts(
  heads: readonly SegmentHead[],
  eventsMax: number,
  weightIn: WeightIn = () => 1,
): number[] {
  // Blocks of all segments may begin at the same identity; together they must fit into a range.
  const pieceMax = eventsMax / (2 * heads.length);
  const pieces = heads.flatMap((head) => [...piecesOf(head, pieceMax, weightIn)])
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

/** Returns by actor 1 if its identities are in several ranges, which begin at `starts`. */
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

/** Whether the next range, which begins at identity `to`, begins in the last of these blocks. */
function isOpen({ head, blocks: { end } }: WantedBlocks, to: number): boolean {
  return (head.firstIdentities[end] ?? head.lastIdentity) >= to;
}

/** Returns the blocks, with the last one separate if it is open. */
function openApart(wanted: WantedBlocks, to: number): WantedBlocks[] {
  const { first, end } = wanted.blocks;
  if (first >= end) return [];
  if (end - first === 1 || !isOpen(wanted, to)) return [wanted];
  const last = end - 1;
  return [{ first, end: last }, { first: last, end }].map((blocks) => ({ ...wanted, blocks }));
}

/** What is read for a range of identities. */
interface KeptOfRange {
  readonly keeps: (identity: number) => boolean;
  /** The first identity of the next range. */
  readonly to: number;
  readonly open: OpenBlocks;
  /** Called with each block that is read. */
  readonly see: (decoded: DecodedBlocks) => void;
}

/** Reads segments into a scope, which the caller releases if that fails. */
type ReadSegments = (memory: MemoryScope) => Promise<LoadedSegment[]>;

/** What a `PartReader` reads from. */
interface PartSource {
  readonly sql: Sql;
  readonly projectId: number;
  readonly heads: readonly StoredHead[];
  readonly actorOf: Int32Array;
  /** About the most events that are in memory at once. */
  readonly eventsMax: number;
  readonly weightIn: WeightIn;
  readonly memory: SharedMemory;
  /** Performs the decoding of blocks. */
  readonly perform: PerformDecoding;
}

/** Reads segments of a project part by part, where they are too large to be read as a whole. */
export class PartReader {
  readonly #source: PartSource;

  constructor(source: PartSource) {
    this.#source = source;
  }

  /**
   * Yields the events of the actors of each range of identities, then those of spread actors, whose
   * identities are in several ranges. The latter were collected meanwhile or, if they are too many, are read
   * again, a group of actors at a time. A part is freed when the next one is asked for.
   */
  async *parts(): AsyncGenerator<SegmentsPart> {
    const { actorOf, eventsMax, weightIn } = this.#source;
    const heads = this.#source.heads.map(({ head }) => head);
    const starts = rangeStarts(heads, PART_SHARE * eventsMax, weightIn);
    const isSpread = spreadActors(actorOf, starts);
    const memory = new MemoryScope(this.#source.memory);
    const spread = new SpreadEvents(actorOf, isSpread, EXTRA_SHARE * eventsMax, memory);
    const openMemory = new MemoryScope(this.#source.memory);
    const open = new OpenBlocks(EXTRA_SHARE * eventsMax, openMemory);
    try {
      const reads = starts.entries().map(([range, from]) => () => {
        const to = starts[range + 1] ?? actorOf.length;
        const wanted = this.#source.heads.map((stored): WantedBlocks => ({
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
    const { actorOf, eventsMax } = this.#source;
    const ascending = [...eventsOf].sort(([a], [b]) => a - b);
    const groups = batchesOf(ascending, ([, events]) => events, PART_SHARE * eventsMax);
    const reads = groups.map((group) => () => {
      const actors = new Set(group.map(([actor]) => actor));
      const identities = Int32Array.from(
        actorOf.keys().filter((identity) => actors.has(actorOf[identity]!)),
      );
      const wanted = this.#source.heads.flatMap((stored) =>
        blocksWithAny(stored.head, identities).map((blocks): WantedBlocks => ({
          ...stored,
          blocks,
        }))
      );
      const keeps = (identity: number) => actors.has(actorOf[identity]!);
      return this.#part((memory) => this.#readPicked(wanted, memory, keeps));
    });
    yield* new PartsInTurn(reads).parts();
  }

  async #part(read: ReadSegments): Promise<ReadPart> {
    const memory = new MemoryScope(this.#source.memory);
    try {
      return { segments: await read(memory), memory };
    } catch (error) {
      memory.release();
      throw error;
    }
  }

  /** Reads blocks most of whose runs are kept: only the bounds of runs are copied, events stay in the blocks. */
  async #readRange(
    wanted: readonly WantedBlocks[],
    memory: MemoryScope,
    { keeps, to, open, see }: KeptOfRange,
  ): Promise<LoadedSegment[]> {
    const turn = yielding();
    // Timelines need the order of the segments, which is not the order of reading.
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
      const segment = slicedSegment(one, keeps, memory.take, runColumns);
      if (segment !== null) segments.push(segment);
      await turn();
    }
    open.settle(decoded, (blocks) => isOpen(blocks, to), memory);
    return segments;
  }

  /** Reads blocks few of whose runs are kept: their events are copied, and the blocks freed. */
  async #readPicked(
    wanted: readonly WantedBlocks[],
    memory: MemoryScope,
    keeps: (identity: number) => boolean,
  ): Promise<LoadedSegment[]> {
    const turn = yielding();
    const segments: LoadedSegment[] = [];
    const blocks = new MemoryScope(this.#source.memory);
    try {
      for await (const one of this.#decoded(wanted, blocks)) {
        const segment = slicedSegment(one, keeps, memory.take, pickedColumns);
        if (segment !== null) segments.push(segment);
        blocks.giveBack(one.columns.times);
        await turn();
      }
    } finally {
      blocks.release();
    }
    return segments;
  }

  /** Fetches and decodes blocks into `memory`, and yields them one by one. */
  async *#decoded(
    wanted: readonly WantedBlocks[],
    memory: MemoryScope,
  ): AsyncGenerator<DecodedBlocks> {
    const { sql, projectId, memory: shared, perform } = this.#source;
    const fetch = (batch: readonly WantedBlocks[]) =>
      fetchBlocks(sql, projectId, batch, HOT_COLUMNS);
    const eventsIn = ({ head, blocks }: WantedBlocks) => eventsOf(head, blocks);
    const batches = batchesOf(wanted, eventsIn, EVENTS_DECODED);
    for await (const [batch, readers] of oneAhead(batches, fetch)) {
      const decoded = await decodeBlocks(batch, readers, shared, perform);
      for (const { columns: { times } } of decoded) memory.own(times);
      yield* decoded;
    }
  }
}
