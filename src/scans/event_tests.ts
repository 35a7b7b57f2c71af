import type { Row, Sql } from "../db/sql.ts";
import { BOT_BIT } from "../timelines/loaded_segment.ts";
import type { FieldId } from "../query/filter_conditions.ts";
import type { Filter } from "../query/filters.ts";
import type { BotChoice, Scope } from "../query/selection.ts";
import { namedIds, passing } from "./named_ids.ts";
import { isMarked, type MarkBits, WideMarks } from "./mark_bits.ts";

const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;
/** Contexts of bots have negative ids: the first and the last id that pass. */
const CONTEXTS_OF: Readonly<Record<BotChoice, readonly [number, number]>> = {
  exclude: [0, INT_MAX],
  include: [INT_MIN, INT_MAX],
  only: [INT_MIN, -1],
};

/** Which ids pass: 1 at each one's place. Null: all do. */
interface PassingIds {
  readonly names: Uint8Array | null;
  /** Events without a path have that of id 0. */
  readonly paths: Uint8Array | null;
  /** The place of id c is `c - contextsFrom`. */
  readonly contexts: Uint8Array | null;
  readonly actors: Uint8Array | null;
}

/** How far the ids of a project reach. */
interface IdReach extends Row {
  readonly term_max: number;
  readonly context_min: number;
  readonly context_max: number;
  readonly identity_max: number;
}

/** Which events pass, by what histories hold of them. */
export class EventTest implements PassingIds {
  readonly names: Uint8Array | null;
  readonly paths: Uint8Array | null;
  readonly contexts: Uint8Array | null;
  readonly actors: Uint8Array | null;
  readonly contextsFrom: number;
  /** The largest id of a context. */
  readonly contextsTo: number;
  /** The first and the last id of contexts that `bots` lets through. */
  readonly contextMin: number;
  readonly contextMax: number;
  /** The largest id of a name or a path. */
  readonly termMax: number;
  /** The bits that an event's mark must have. */
  readonly marks: number;
  /** What else its mark must say; null: nothing. */
  readonly wideMarks: WideMarks | null;

  constructor(
    bots: BotChoice,
    passing: PassingIds,
    marks: number,
    reach: IdReach,
    wideMarks: WideMarks | null = null,
  ) {
    this.marks = marks;
    this.wideMarks = wideMarks;
    this.names = passing.names;
    this.paths = passing.paths;
    this.contexts = passing.contexts;
    this.actors = passing.actors;
    this.contextsFrom = reach.context_min;
    this.contextsTo = reach.context_max;
    [this.contextMin, this.contextMax] = CONTEXTS_OF[bots];
    this.termMax = reach.term_max;
  }

  /** Whether an event of this name, path (0: none), context, actor and mark passes. */
  passes(name: number, path: number, context: number, actor: number, mark: number): boolean {
    return (this.names === null || this.names[name] === 1) &&
      this.passesBeyondName(path, context, actor, mark);
  }

  /** The same of an event whose name is known to pass. */
  passesBeyondName(path: number, context: number, actor: number, mark: number): boolean {
    return context >= this.contextMin && context <= this.contextMax &&
      (mark & this.marks) === this.marks &&
      (this.wideMarks === null || this.wideMarks.passes(mark)) &&
      (this.paths === null || this.paths[path] === 1) &&
      (this.contexts === null || this.contexts[context - this.contextsFrom] === 1) &&
      (this.actors === null || this.actors[actor] === 1);
  }

  /** Whether an event of a run may fail for being a bot's, or none: see `nameBits` of runs. */
  mayFailByBots(nameBits: number): boolean {
    if (this.contextMax < 0) return true;
    return this.contextMin === 0 && (nameBits & BOT_BIT) !== 0;
  }

  /** Whether, bots apart, the name alone decides. */
  get isOfName(): boolean {
    return this.paths === null && this.contexts === null && this.actors === null &&
      this.marks === 0 && this.wideMarks === null;
  }
}

const REACH = `
SELECT
  (SELECT coalesce(max(term_id), 0) FROM terms WHERE project_id = $1::int) AS term_max,
  (SELECT coalesce(min(context_id), 0) FROM contexts WHERE project_id = $1::int) AS context_min,
  (SELECT coalesce(max(context_id), 0) FROM contexts WHERE project_id = $1::int) AS context_max,
  (SELECT coalesce(max(identity_id), 0) FROM identities WHERE project_id = $1::int) AS identity_max`;

/**
 * Tests of events, one for each list of filters, all of which must hold, and for `bots`. Evaluated
 * in SQL over the tables that the ids stand for: `sql` must see the moment that the histories are of.
 * @param bits of the histories' marks: these must be marked by all of the filters that marks tell
 */
export async function eventTests(
  sql: Sql,
  place: Pick<Scope, "projectId" | "siteHost">,
  bots: BotChoice,
  lists: readonly (readonly Filter[])[],
  bits: MarkBits,
): Promise<EventTest[]> {
  const [reach] = await sql.query<IdReach>(REACH, [place.projectId]);
  const { term_max, context_min, context_max, identity_max } = reach!;
  const ofIds = lists.map((filters) => filters.filter(({ field }) => !isMarked(field)));
  const named = await namedIds(sql, place, ofIds);
  return named.map((filters, i) => {
    const of = (id: FieldId) => filters.filter(({ filter }) => filter.of === id);
    const ids: PassingIds = {
      names: passing(of("name"), 0, term_max),
      paths: passing(of("path"), 0, term_max),
      contexts: passing(of("context"), context_min, context_max),
      actors: passing(of("actor"), 0, identity_max),
    };
    const wanted = bits.wanted(lists[i]!);
    if (!bits.isWide) return new EventTest(bots, ids, wanted[0]!, reach!);
    const wide = wanted.some((word) => word !== 0) ? new WideMarks(bits, wanted) : null;
    return new EventTest(bots, ids, 0, reach!, wide);
  });
}

/** The test of events that pass `bots` and all filters. See `eventTests`. */
export async function eventTest(
  sql: Sql,
  scope: Pick<Scope, "projectId" | "siteHost">,
  bots: BotChoice,
  filters: readonly Filter[],
  bits: MarkBits,
): Promise<EventTest> {
  const [test] = await eventTests(sql, scope, bots, [filters], bits);
  return test!;
}
