import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import { yielding } from "../store/yielding.ts";
import { type Histories, type HistoryPart, loadHistories } from "../timelines/histories.ts";
import { type LazyColumn, lazyName } from "../timelines/lazy_columns.ts";
import { loadLazy } from "../timelines/lazy_loader.ts";
import { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import type { SegmentCache } from "../timelines/segment_cache.ts";
import { type MemoryScope, type MemoryUse, sharedColumn } from "../timelines/shared_memory.ts";
import {
  type Field,
  type Filter,
  isSeldomField,
  isSessionField,
  propertyOf,
  type SeldomField,
} from "../query/filters.ts";
import type { Scope, Span } from "../query/selection.ts";
import { FilterBits, WORD_BITS } from "./filter_bits.ts";
import { namedIds, passing } from "./named_ids.ts";
import type { SessionChoice } from "./passing_sessions.ts";
import { markByProperty, type Marked } from "./property_marks.ts";
import type { ScanPool } from "./scan_pool.ts";
import { seldomIdMax } from "./seldom_fields.ts";
import { SESSION_BITS, type SessionBits } from "./session_bits.ts";
import { sessionPasses } from "./session_tests.ts";
import type { VisitorKind } from "./visitor.ts";

/** What loads and visits for all reads. */
export interface ScanServices {
  /** Segments that were read before. */
  readonly segments: SegmentCache;
  /** Workers that follow actors. */
  readonly pool: ScanPool;
}

/** How a scan hands over what it visits. */
export interface ScanManner {
  /** Null: all. */
  readonly sessions?: SessionChoice | null;
  /** Run by run, each as if nothing else were its actor's: quicker to begin, where that is all the same. */
  readonly byRun?: boolean;
}

/** A part whose events are marked, with the lazy columns that were asked for. */
export interface MarkedPart extends HistoryPart {
  /** Of many filters the bits of all events: see `FilterBits`. */
  readonly words: readonly Int32Array[];
  /** Visits this part alone. */
  readonly scan: <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: Inputs,
    manner?: ScanManner,
  ) => Promise<Counts>;
}

/** Does what is needed before a part is visited: once, however often it is. */
export type PreparePart = (part: MarkedPart) => Promise<void>;

/** Histories whose events are marked by what filters ask of lazy columns. */
export interface MarkedHistories extends Histories {
  readonly bits: FilterBits;
  /** Has each part prepared before it is visited. */
  readonly prepare: (prepare: PreparePart) => void;
  readonly parts: () => AsyncIterable<MarkedPart>;
  /** Visits everybody, part by part. `inputs`: asked for once a part is prepared. */
  readonly scan: <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: () => Inputs,
    manner?: ScanManner,
  ) => Promise<Counts>;
}

/** About what an event takes in memory of a lazy column. */
const LAZY_EVENT_BYTES = 8;

/** What histories are marked by, and where their columns are read from. */
interface Marking extends ScanServices {
  readonly sql: Sql;
  readonly scope: Pick<Scope, "projectId" | "siteHost">;
  readonly use: MemoryUse;
  readonly signal: AbortSignal | undefined;
  readonly bits: FilterBits;
  readonly columns: readonly LazyColumn[];
  readonly histories: Histories;
  readonly span: Span;
}

type Segments = readonly LoadedSegment[];

const columnOf = (field: Field): LazyColumn =>
  isSeldomField(field) ? { field } : { property: propertyOf(field)! };

/** A lazy column of each segment. */
function load(
  { sql, segments: cache, scope }: Marking,
  { segments, memory }: HistoryPart,
  column: LazyColumn,
): Promise<readonly object[]> {
  return loadLazy(sql, cache, memory, scope.projectId, segments, column);
}

/** Marks by the ids of titles or referrers. */
async function markByIds(
  marking: Marking,
  columns: readonly IntegerColumn[],
  field: SeldomField,
  filter: Filter,
  marks: readonly Marked[],
): Promise<void> {
  const { sql, scope } = marking;
  const [named] = await namedIds(sql, scope, [[filter]]);
  const passes = passing(named!, 0, await seldomIdMax(sql, scope.projectId, field))!;
  const turn = yielding();
  for (const [i, ids] of columns.entries()) {
    const { bits, first, bit } = marks[i]!;
    for (let at = 0; at < ids.length; at++) {
      if (passes[ids[at]!] === 1) bits[first + at]! |= bit;
    }
    await turn();
  }
}

/** A column for so many bits an event. */
function marksOf(bits: number, events: number): IntegerColumn {
  if (bits <= 8) return new Uint8Array(events);
  return bits <= 16 ? new Uint16Array(events) : new Int32Array(events);
}

/** The marks of the events of segments, to be filled. */
interface Marks {
  readonly columns: readonly IntegerColumn[];
  readonly words: readonly Int32Array[];
  /** Where the bit of a filter, by its number, goes to. */
  readonly of: (number: number) => readonly Marked[];
}

function emptyMarks({ count, isWide }: FilterBits, segments: Segments, memory: MemoryScope): Marks {
  if (!isWide) {
    const columns = segments.map(({ times }) =>
      sharedColumn(memory.take, marksOf(count, times.length))
    );
    const of = (number: number) =>
      columns.map((bits): Marked => ({ bits, first: 0, events: bits.length, bit: 1 << number }));
    return { columns, words: [], of };
  }
  let events = 0;
  const places = segments.map(({ times }) => {
    const first = events;
    events += times.length;
    return sharedColumn(memory.take, Int32Array.from(times, (_, at) => first + at));
  });
  const words = Array.from(
    { length: Math.ceil(count / WORD_BITS) },
    () => sharedColumn(memory.take, new Int32Array(events)),
  );
  const of = (number: number) =>
    places.map((own): Marked => ({
      bits: words[Math.floor(number / WORD_BITS)]!,
      first: own[0] ?? 0,
      events: own.length,
      bit: 1 << number % WORD_BITS,
    }));
  return { columns: places, words, of };
}

/** Marks what filters ask of titles, referrers and properties. @returns what they ask of sessions */
async function markEvents(
  marking: Marking,
  part: HistoryPart,
  marks: Marks,
): Promise<SessionBits[]> {
  const { sql, scope } = marking;
  const ofSessions: SessionBits[] = [];
  for (const [number, filter] of [...marking.bits.filters.values()].entries()) {
    const { field } = filter;
    if (isSessionField(field)) {
      const test = await sessionPasses(sql, scope, [filter]);
      ofSessions.push({ test, word: Math.floor(number / WORD_BITS), bit: 1 << number % WORD_BITS });
      continue;
    }
    const columns = await load(marking, part, columnOf(field));
    const own = marks.of(number);
    if (isSeldomField(field)) {
      await markByIds(marking, columns as IntegerColumn[], field, filter, own);
    } else await markByProperty(sql, columns as PropertyColumn[], own, filter);
  }
  return ofSessions;
}

/** A part with its marks, the lazy columns that were asked for, and what it was prepared by. */
class OwnPart implements MarkedPart {
  readonly memory: MemoryScope;
  readonly timelines: HistoryPart["timelines"];
  readonly prepared = new Set<PreparePart>();
  readonly #marking: Marking;

  constructor(
    marking: Marking,
    { memory, timelines }: HistoryPart,
    readonly segments: Segments,
    readonly words: readonly Int32Array[],
  ) {
    this.memory = memory;
    this.timelines = timelines;
    this.#marking = marking;
  }

  readonly scan: MarkedPart["scan"] = async (kind, inputs, { sessions = null, byRun } = {}) => {
    const { pool, use, signal, histories: { actorOf } } = this.#marking;
    const { segments, words } = this;
    const isByRun = byRun === true && sessions === null;
    const timelines = isByRun ? null : await this.timelines();
    const order = {
      ...{ visitor: kind.name, inputs, segments, words },
      ...{ timelines, actorOf, sessions },
    };
    return await use.during(pool.run(kind, order, signal));
  };
}

async function markedPart(marking: Marking, part: HistoryPart): Promise<OwnPart> {
  const { bits, columns, span } = marking;
  const { segments, memory } = part;
  const lazies = segments.map(() => new Map<string, object>());
  for (const column of columns) {
    const loaded = await load(marking, part, column);
    for (const [i, one] of loaded.entries()) lazies[i]!.set(lazyName(column), one);
  }
  const marks = bits.count === 0 ? null : emptyMarks(bits, segments, memory);
  const own = segments.map((segment, i) =>
    new LoadedSegment(segment, marks?.columns[i], lazies[i])
  );
  const marked = new OwnPart(marking, part, own, marks?.words ?? []);
  const ofSessions = marks === null ? [] : await markEvents(marking, part, marks);
  if (ofSessions.length > 0) {
    await marked.scan(SESSION_BITS, { isWide: bits.isWide, reach: span, asked: ofSessions });
  }
  return marked;
}

class MarkingHistories implements MarkedHistories {
  readonly projectId: number;
  readonly actorOf: Int32Array;
  readonly bits: FilterBits;
  readonly #marking: Marking;
  readonly #preparing: PreparePart[] = [];
  /** The only part as it was marked, where all fits into memory. */
  #known: OwnPart | null = null;

  constructor(marking: Marking) {
    this.projectId = marking.histories.projectId;
    this.actorOf = marking.histories.actorOf;
    this.bits = marking.bits;
    this.#marking = marking;
  }

  readonly prepare = (prepare: PreparePart): void => {
    this.#preparing.push(prepare);
  };

  readonly parts = async function* (this: MarkingHistories): AsyncGenerator<MarkedPart> {
    for await (const part of this.#marked()) {
      for (const prepare of this.#preparing) {
        if (part.prepared.has(prepare)) continue;
        await prepare(part);
        part.prepared.add(prepare);
      }
      yield part;
    }
  }.bind(this);

  readonly scan: MarkedHistories["scan"] = async (kind, inputs, manner) => {
    type Counts = ReturnType<ReturnType<typeof kind.create>["result"]>;
    let counts: Counts | null = null;
    for await (const part of this.parts()) {
      const own = await part.scan(kind, inputs(), manner);
      counts = counts === null ? own : kind.merge(counts, own);
    }
    return counts ?? kind.create(inputs(), []).result();
  };

  async *#marked(): AsyncGenerator<OwnPart> {
    if (this.#known !== null) return yield this.#known;
    const { histories, use } = this.#marking;
    for await (const part of histories.parts()) {
      const marked = await markedPart(this.#marking, part);
      // What is read part by part is gone with the next part.
      if (part.memory === use) this.#known = marked;
      yield marked;
    }
  }
}

/** A read's own way to its histories. */
export interface HistoryAccess extends ScanServices {
  readonly sql: Sql;
  readonly scope: Pick<Scope, "projectId" | "siteHost">;
  readonly use: MemoryUse;
  /** Ends scans once it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * `loadHistories`, its events marked by what these filters ask of lazy columns: all that the read is
 * going to test.
 * @param columns what visits need beside the columns of all reads
 */
export async function loadMarkedHistories(
  access: HistoryAccess,
  span: Span,
  filters: readonly Filter[],
  columns: readonly LazyColumn[] = [],
): Promise<MarkedHistories> {
  const { sql, segments, pool, scope, use } = access;
  const bits = new FilterBits(filters);
  const eventBytes = LAZY_EVENT_BYTES * columns.length + Math.ceil(bits.count / 8);
  const histories = await loadHistories(
    sql,
    segments,
    use,
    scope.projectId,
    span,
    eventBytes,
    (events) => pool.expect(events),
  );
  return new MarkingHistories({ signal: undefined, ...access, bits, columns, histories, span });
}

/** Runs work that asks for histories: what it loads is its own until it ends. */
export async function withHistories<T>(
  services: ScanServices,
  access: Omit<HistoryAccess, keyof ScanServices | "use">,
  work: (
    histories: (
      span: Span,
      filters: readonly Filter[],
      columns?: readonly LazyColumn[],
    ) => Promise<MarkedHistories>,
  ) => Promise<T>,
): Promise<T> {
  const { segments, pool } = services;
  const use = segments.memory.enter();
  try {
    return await work((span, filters, columns) =>
      loadMarkedHistories({ segments, pool, use, ...access }, span, filters, columns)
    );
  } finally {
    await use.end();
  }
}
