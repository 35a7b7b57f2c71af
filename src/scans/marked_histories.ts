import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import { type Histories, type HistoryPart, loadHistories } from "../timelines/histories.ts";
import { type LazyColumn, lazyName } from "../timelines/lazy_columns.ts";
import { loadLazy } from "../timelines/lazy_loader.ts";
import { LoadedSegment } from "../timelines/loaded_segment.ts";
import { Pace } from "../timelines/pace.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import type { SegmentCache } from "../timelines/segment_cache.ts";
import {
  type Field,
  type Filter,
  isSeldomField,
  isSessionField,
  propertyOf,
  type SeldomField,
} from "../query/filters.ts";
import type { Scope, Span } from "../query/selection.ts";
import { MarkBits, WORD_BITS } from "./mark_bits.ts";
import { namedIds, passing } from "./named_ids.ts";
import { markByProperty, type Marked } from "./property_marks.ts";
import { markBySessions, type SessionMarks } from "./session_marks.ts";
import { seldomIdMax } from "./seldom_fields.ts";

/** Does what is needed before a part is walked: once, however often it is. */
export type PreparePart = (part: HistoryPart) => Promise<void>;

/** Histories whose events are marked by what filters ask of lazy columns. */
export interface MarkedHistories extends Histories {
  readonly bits: MarkBits;
  /** Has each part prepared before it is walked. */
  readonly prepare: (prepare: PreparePart) => void;
}

/** About what an event takes in memory of a lazy column. */
const LAZY_EVENT_BYTES = 8;

/** What histories are marked by, and where their columns are read from. */
interface Marking {
  readonly sql: Sql;
  readonly cache: SegmentCache;
  readonly scope: Pick<Scope, "projectId" | "siteHost">;
  readonly bits: MarkBits;
  readonly columns: readonly LazyColumn[];
  readonly histories: Histories;
  readonly span: Span;
}

type Segments = readonly LoadedSegment[];

const columnOf = (field: Field): LazyColumn =>
  isSeldomField(field) ? { field } : { property: propertyOf(field)! };

/** A lazy column of each segment. */
function load(
  { sql, cache, scope }: Marking,
  segments: Segments,
  column: LazyColumn,
): Promise<readonly object[]> {
  return loadLazy(sql, cache.lazies, scope.projectId, segments, column);
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
  const pace = new Pace();
  for (const [i, ids] of columns.entries()) {
    const { bits, first, bit } = marks[i]!;
    for (let at = 0; at < ids.length; at++) {
      if (passes[ids[at]!] === 1) bits[first + at]! |= bit;
    }
    if (pace.isOver()) await pace.pause();
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

function emptyMarks({ count, isWide }: MarkBits, segments: Segments): Marks {
  if (!isWide) {
    const columns = segments.map(({ times }) => marksOf(count, times.length));
    const of = (number: number) =>
      columns.map((bits): Marked => ({ bits, first: 0, events: bits.length, bit: 1 << number }));
    return { columns, words: [], of };
  }
  let events = 0;
  const places = segments.map(({ times }) => {
    const first = events;
    events += times.length;
    return Int32Array.from(times, (_, at) => first + at);
  });
  const words = Array.from({ length: Math.ceil(count / WORD_BITS) }, () => new Int32Array(events));
  const of = (number: number) =>
    places.map((own): Marked => ({
      bits: words[Math.floor(number / WORD_BITS)]!,
      first: own[0] ?? 0,
      events: own.length,
      bit: 1 << number % WORD_BITS,
    }));
  return { columns: places, words, of };
}

async function markedBy(marking: Marking, part: HistoryPart): Promise<Marks> {
  const { sql, scope, histories, span } = marking;
  const { segments } = part;
  const marks = emptyMarks(marking.bits, segments);
  const ofSessions: SessionMarks[] = [];
  for (const [number, filter] of [...marking.bits.filters.values()].entries()) {
    const { field } = filter;
    if (isSessionField(field)) {
      ofSessions.push({ filter, marks: marks.of(number) });
      continue;
    }
    const columns = await load(marking, segments, columnOf(field));
    const own = marks.of(number);
    if (isSeldomField(field)) {
      await markByIds(marking, columns as IntegerColumn[], field, filter, own);
    } else await markByProperty(marking.sql, columns as PropertyColumn[], own, filter);
  }
  await markBySessions(sql, scope, histories, part, span, ofSessions);
  return marks;
}

/** A part with its marks, the lazy columns that were asked for, and what it was prepared by. */
interface MarkedPart extends HistoryPart {
  readonly words: readonly Int32Array[];
  readonly prepared: Set<PreparePart>;
}

async function markedPart(marking: Marking, part: HistoryPart): Promise<MarkedPart> {
  const { bits, columns } = marking;
  const { segments } = part;
  const lazies = segments.map(() => new Map<string, object>());
  for (const column of columns) {
    const loaded = await load(marking, segments, column);
    for (const [i, one] of loaded.entries()) lazies[i]!.set(lazyName(column), one);
  }
  const marks = bits.count === 0 ? null : await markedBy(marking, part);
  const own = segments.map((segment, i) =>
    new LoadedSegment(segment, marks?.columns[i], lazies[i])
  );
  return { ...part, segments: own, words: marks?.words ?? [], prepared: new Set() };
}

class MarkingHistories implements MarkedHistories {
  readonly projectId: number;
  readonly actorOf: Int32Array;
  readonly bits: MarkBits;
  readonly #histories: Histories;
  readonly #marking: Marking;
  readonly #preparing: PreparePart[] = [];
  /** The parts as they were marked, where it is one, which fits into memory. */
  #known: MarkedPart[] | null = null;

  constructor(histories: Histories, marking: Marking) {
    this.projectId = histories.projectId;
    this.actorOf = histories.actorOf;
    this.bits = marking.bits;
    this.#histories = histories;
    this.#marking = marking;
  }

  readonly prepare = (prepare: PreparePart): void => {
    this.#preparing.push(prepare);
  };

  readonly parts = async function* (this: MarkingHistories): AsyncGenerator<HistoryPart> {
    let only: MarkedPart[] | null = null;
    let count = 0;
    for await (const part of this.#known ?? this.#marked()) {
      this.bits.words = part.words;
      for (const prepare of this.#preparing) {
        if (part.prepared.has(prepare)) continue;
        await prepare(part);
        part.prepared.add(prepare);
      }
      only = ++count === 1 ? [part] : null;
      yield part;
    }
    this.#known = only;
  }.bind(this);

  async *#marked(): AsyncGenerator<MarkedPart> {
    for await (const part of this.#histories.parts()) yield await markedPart(this.#marking, part);
  }
}

/**
 * `loadHistories`, its events marked by what these filters ask of lazy columns: all that the read is
 * going to test.
 * @param columns what visits need beside the columns of all reads
 */
export async function loadMarkedHistories(
  sql: Sql,
  cache: SegmentCache,
  scope: Pick<Scope, "projectId" | "siteHost">,
  span: Span,
  filters: readonly Filter[],
  columns: readonly LazyColumn[] = [],
): Promise<MarkedHistories> {
  const bits = new MarkBits(filters);
  const eventBytes = LAZY_EVENT_BYTES * columns.length + Math.ceil(bits.count / 8);
  const histories = await loadHistories(sql, cache, scope.projectId, span, eventBytes);
  return new MarkingHistories(histories, { sql, cache, scope, bits, columns, histories, span });
}
