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
import { spreadEvents } from "./spread_events.ts";
import { MemoryScope, type SharedMemory } from "./shared_memory.ts";
import { yielding } from "../store/yielding.ts";

/** A part's share of the events that may be in memory: the next part is read while one is visited. */
const PART_SHARE = 1 / 2;
/** The share of open blocks, in addition to the parts; that of spread actors is the same. */
const EXTRA_SHARE = 1 / 2;
/** The most events in blocks that are fetched and decoded together. */
const EVENTS_DECODED = 400_000;

/** Returns the number of events in blocks; the last block of a segment may have fewer. */
function eventsOf({ events, blockEvents }: SegmentHead, { first, end }: Blocks): number {
  return Math.min(end * blockEvents, events) - first * blockEvents;
}

/** Adjacent identities of a block, from the first on, with their number of events. */
type Piece = { readonly identity: number; readonly events: number };

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

/** What parts are read from: segments of a project that are too large to be read as a whole. */
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

/** Fetches and decodes blocks into `memory`, and yields them one by one. */
async function* decodedOf(
  { sql, projectId, memory: shared, perform }: PartSource,
  wanted: readonly WantedBlocks[],
  memory: MemoryScope,
): AsyncGenerator<DecodedBlocks> {
  const fetch = (batch: readonly WantedBlocks[]) => fetchBlocks(sql, projectId, batch, HOT_COLUMNS);
  const eventsIn = ({ head, blocks }: WantedBlocks) => eventsOf(head, blocks);
  const batches = batchesOf(wanted, eventsIn, EVENTS_DECODED);
  for await (const [batch, readers] of oneAhead(batches, fetch)) {
    const decoded = await decodeBlocks(batch, readers, shared, perform);
    for (const { columns: { times } } of decoded) memory.own(times);
    yield* decoded;
  }
}

/**
 * Reads blocks most of whose runs are kept: only the bounds of runs are copied, events stay in the blocks.
 * @param to the first identity of the next range
 * @param keptOf returns the events of a block that are kept
 */
async function readRange(
  source: PartSource,
  wanted: readonly WantedBlocks[],
  memory: MemoryScope,
  to: number,
  open: OpenBlocks,
  keptOf: (decoded: DecodedBlocks) => LoadedSegment | null,
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
  for await (const one of decodedOf(source, unread, memory)) found.set(one.wanted, one);
  const decoded = [...found.values()].filter((one) => one !== null);
  const segments: LoadedSegment[] = [];
  for (const one of decoded) {
    const segment = keptOf(one);
    if (segment !== null) segments.push(segment);
    await turn();
  }
  open.settle(decoded, (blocks) => isOpen(blocks, to), memory);
  return segments;
}

/** Reads blocks few of whose runs are kept: their events are copied, and the blocks freed. */
async function readPicked(
  source: PartSource,
  wanted: readonly WantedBlocks[],
  memory: MemoryScope,
  keeps: (identity: number) => boolean,
): Promise<LoadedSegment[]> {
  const turn = yielding();
  const segments: LoadedSegment[] = [];
  const blocks = new MemoryScope(source.memory);
  try {
    for await (const one of decodedOf(source, wanted, blocks)) {
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

/** Reads segments into a scope of their own, which is released if that fails. */
async function partOf(
  source: PartSource,
  read: (memory: MemoryScope) => Promise<LoadedSegment[]>,
): Promise<ReadPart> {
  const memory = new MemoryScope(source.memory);
  try {
    return { segments: await read(memory), memory };
  } catch (error) {
    memory.release();
    throw error;
  }
}

async function* spreadParts(
  source: PartSource,
  ascending: readonly (readonly [actor: number, events: number])[],
): AsyncGenerator<SegmentsPart> {
  const { heads, actorOf, eventsMax } = source;
  const groups = batchesOf(ascending, ([, events]) => events, PART_SHARE * eventsMax);
  const reads = groups.map((group) => () => {
    const actors = new Set(group.map(([actor]) => actor));
    const keeps = (identity: number) => actors.has(actorOf[identity]!);
    const identities = Int32Array.from(actorOf.keys().filter(keeps));
    const wanted = heads.flatMap((stored) =>
      blocksWithAny(stored.head, identities).map((blocks): WantedBlocks => ({ ...stored, blocks }))
    );
    return partOf(source, (memory) => readPicked(source, wanted, memory, keeps));
  });
  yield* new PartsInTurn(reads).parts();
}

/**
 * Reads segments part by part. Yields the events of the actors of each range of identities, then those of spread
 * actors, whose identities are in several ranges. The latter were collected meanwhile or, if they are too many,
 * are read again, a group of actors at a time. A part is freed when the next one is asked for.
 */
export async function* readParts(source: PartSource): AsyncGenerator<SegmentsPart> {
  const { heads, actorOf, eventsMax, weightIn } = source;
  const starts = rangeStarts(heads.map(({ head }) => head), PART_SHARE * eventsMax, weightIn);
  const isSpread = spreadActors(actorOf, starts);
  const memory = new MemoryScope(source.memory);
  const spread = spreadEvents(actorOf, isSpread, EXTRA_SHARE * eventsMax, memory);
  const openMemory = new MemoryScope(source.memory);
  const open = new OpenBlocks(EXTRA_SHARE * eventsMax, openMemory);
  try {
    const reads = starts.entries().map(([range, from]) => () => {
      const to = starts[range + 1] ?? actorOf.length;
      const wanted = heads.map((stored): WantedBlocks => ({
        ...stored,
        blocks: blocksOf(stored.head, from, to - 1),
      }));
      const keeps = (identity: number) =>
        identity >= from && identity < to && isSpread[actorOf[identity]!] === 0;
      return partOf(source, (memory) =>
        readRange(source, wanted, memory, to, open, (decoded) => {
          spread.add(decoded, from, to);
          return slicedSegment(decoded, keeps, memory.take, runColumns);
        }));
    });
    yield* new PartsInTurn(reads).parts();
    openMemory.release();
    const segments = spread.collected();
    if (segments !== null && segments.length > 0) yield { segments, memory, readOn: () => {} };
  } finally {
    openMemory.release();
    memory.release();
  }
  if (spread.collected() === null) yield* spreadParts(source, spread.eventsOf());
}
