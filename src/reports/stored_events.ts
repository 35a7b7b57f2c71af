import type { Param, Sql } from "../db/sql.ts";
import { HISTORY_IDS_LOOKED_UP, STORE_DELAY_MS_MAX, TIMESTAMP_MS_MIN } from "../limits.ts";
import type { PageCursor, TailCursor } from "../selection/event_cursor.ts";
import type { Range } from "../selection/range.ts";
import {
  anyFactConditions,
  type BotChoice,
  type Scope,
  type Span,
} from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import type { Read } from "../walks/read.ts";
import { listInHistories, type ListPlace } from "./event_histories.ts";

/** Which stored events are meant. */
export interface EventSelection {
  readonly scope: Scope;
  /** Null: of any time. */
  readonly range: Range | null;
  readonly tail: TailCursor | null;
  /** What has been folded: filters see nothing that was stored later. Null: there are no filters. */
  readonly folded: TailCursor | null;
}

/** A row of the view `stored_events`. */
export interface StoredEventRow extends Record<string, unknown> {
  readonly event_id: string;
  readonly occurred_at: Date;
  readonly received_at: Date;
}

const BOT_CONDITIONS: Record<BotChoice, string | null> = {
  exclude: "bot IS NOT TRUE",
  include: null,
  only: "bot",
};

/** Collects conditions with their parameters, so that no value is ever spliced into SQL. */
class Where {
  readonly sql = new SqlParams();
  readonly params: Param[] = this.sql.values;
  readonly conditions: string[] = [];

  param(value: Param): string {
    return `$${this.params.push(value)}`;
  }

  add(condition: string | null): void {
    if (condition !== null) this.conditions.push(condition);
  }
}

// A row's xmin has 32 bits; the nearest full id to the snapshot's upper end is the one meant, since
// only rows of the last minutes are looked at.
/** The transaction that stored a row of `stored_events`, as xid8. */
export const STORED_BY = `(
  SELECT (base.id + (stored_by::text::int8 - base.id % 4294967296 + 6442450944) % 4294967296 - 2147483648)::text::xid8
  FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::int8 AS id) base)`;

/** From when on a row that a snapshot does not show may have been received. */
function unseenSince({ at }: TailCursor): string {
  const sinceMs = Math.max(Date.parse(at) - STORE_DELAY_MS_MAX, TIMESTAMP_MS_MIN);
  return new Date(sinceMs).toISOString();
}

function tailConditions(where: Where, tail: TailCursor): void {
  if (tail.snapshot === null) {
    where.add(`received_at > ${where.param(tail.at)}::text::timestamptz`);
    return;
  }
  where.add(`received_at > ${where.param(unseenSince(tail))}::text::timestamptz`);
  where.add(
    `NOT pg_visible_in_snapshot(${STORED_BY}, ${where.param(tail.snapshot)}::text::pg_snapshot)`,
  );
}

function spanOf({ from, to }: Range): Span {
  return { fromMs: from.getTime(), toMs: to.getTime() };
}

function filterCondition(where: Where, { scope, range }: EventSelection): void {
  if (scope.filters.length === 0) return;
  const facts = anyFactConditions(where.sql, scope, range === null ? null : spanOf(range));
  where.add(`event_id IN (SELECT f.event_id FROM facts f WHERE ${facts})`);
}

/** Filters are asked of what is made of events, so what is not folded yet is left to the next read. */
function foldedCondition(where: Where, { scope, folded }: EventSelection): void {
  if (scope.filters.length === 0 || folded === null) return;
  const since = where.param(unseenSince(folded));
  const snapshot = where.param(folded.snapshot);
  where.add(`(received_at <= ${since}::text::timestamptz
    OR pg_visible_in_snapshot(${STORED_BY}, ${snapshot}::text::pg_snapshot))`);
}

/** All conditions but the filters. */
function conditionsOf(selection: EventSelection): Where {
  const where = new Where();
  const { scope, range, tail } = selection;
  where.add(`project_id = ${where.param(scope.projectId)}::int`);
  if (range !== null) {
    where.add(`occurred_at >= ${where.param(range.from.toISOString())}::text::timestamptz`);
    where.add(`occurred_at < ${where.param(range.to.toISOString())}::text::timestamptz`);
  }
  where.add(BOT_CONDITIONS[scope.bots]);
  if (tail !== null) tailConditions(where, tail);
  foldedCondition(where, selection);
  return where;
}

/** What is committed now, as pg_snapshot prints it. */
export async function currentSnapshot(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ snapshot: string }>(
    "SELECT pg_current_snapshot()::text AS snapshot",
  );
  return row!.snapshot;
}

/** Where a page begins, and how many rows it holds at most. */
export interface PageRequest {
  readonly cursor: PageCursor | null;
  readonly rows: number;
}

export interface StoredEventPage {
  readonly rows: StoredEventRow[];
  /** What the page was read of, as pg_snapshot prints it. */
  readonly snapshot: string;
}

/** Those of these events that are still meant, in the order of the list. */
async function readByIds(
  sql: Sql,
  selection: EventSelection,
  ids: readonly string[],
  rowsMax: number,
): Promise<StoredEventRow[]> {
  if (ids.length === 0) return [];
  const where = conditionsOf(selection);
  where.add(`event_id = ANY(${where.sql.uuids(ids)})`);
  return await sql.query<StoredEventRow>(
    `SELECT * FROM stored_events WHERE ${where.conditions.join(" AND ")}
    ORDER BY occurred_at DESC, event_id DESC LIMIT ${where.sql.int(rowsMax)}`,
    where.params,
  );
}

/** The page of a list without a tail, found in histories; null where these do not tell it. */
async function readListed(
  sql: Sql,
  selection: EventSelection,
  { cursor, rows: rowsMax }: PageRequest,
  histories: Read["histories"],
): Promise<StoredEventRow[] | null> {
  const { scope, range, tail } = selection;
  if (tail !== null || range === null) return null;
  const span = spanOf(range);
  const rows: StoredEventRow[] = [];
  let place: ListPlace | null = { ms: span.toMs, id: null };
  const cursorMs = cursor === null ? Infinity : Date.parse(cursor.at);
  if (cursor !== null && cursorMs < span.toMs) {
    place = { ms: cursorMs, id: Uint8Array.fromHex(cursor.eventId.replaceAll("-", "")) };
  }
  // What was stored too late, or has been erased since, is listed all the same: then more are asked for.
  for (let wanted = rowsMax; place !== null && rows.length < rowsMax; wanted *= 2) {
    const asked = Math.min(wanted, HISTORY_IDS_LOOKED_UP);
    const listed = await listInHistories({ sql, scope, histories }, span, place, asked);
    if (listed === null) return null;
    rows.push(...await readByIds(sql, selection, listed.ids, rowsMax - rows.length));
    place = listed.end;
  }
  return rows;
}

/** The same of any page, found in the tables; with what it was read of. */
async function readSelected(
  sql: Sql,
  selection: EventSelection,
  page: PageRequest,
): Promise<StoredEventPage> {
  const where = conditionsOf(selection);
  filterCondition(where, selection);
  const { cursor } = page;
  const time = selection.tail === null ? "occurred_at" : "received_at";
  if (cursor !== null) {
    const at = where.param(cursor.at);
    const eventId = where.param(cursor.eventId);
    where.add(`(${time}, event_id) < (${at}::text::timestamptz, ${eventId}::text::uuid)`);
    // Later pages of a tail show nothing that was committed after the first one was read.
    if (selection.tail !== null && cursor.snapshot !== null) {
      const until = where.param(cursor.snapshot);
      where.add(`pg_visible_in_snapshot(${STORED_BY}, ${until}::text::pg_snapshot)`);
    }
  }
  const limit = where.param(page.rows);
  const order = `ORDER BY ${time} DESC, event_id DESC`;
  const found = await sql.query<StoredEventRow & { snapshot: string }>(
    `SELECT * FROM (SELECT pg_current_snapshot()::text AS snapshot) AS taken
    LEFT JOIN LATERAL (
      SELECT * FROM stored_events WHERE ${
      where.conditions.join(" AND ")
    } ${order} LIMIT ${limit}::int
    ) AS page ON true ${order}`,
    where.params,
  );
  const rows = found.filter((row) => row.event_id !== null);
  return { rows, snapshot: selection.folded?.snapshot ?? found[0]?.snapshot ?? "" };
}

/**
 * One page of stored events, newest first by the time they happened (ties by event id); a tail is
 * in the order of receipt instead, so that a late event shows up as it arrives. One statement reads
 * the page and its snapshot, so that a tail from there on neither misses nor repeats an event.
 * @param histories of the same moment as `sql`, for filters that they can tell; null: not asked
 */
export async function readStoredEvents(
  sql: Sql,
  selection: EventSelection,
  page: PageRequest,
  histories: Read["histories"] | null = null,
): Promise<StoredEventPage> {
  const isFiltered = selection.scope.filters.length > 0;
  const rows = histories === null || !isFiltered
    ? null
    : await readListed(sql, selection, page, histories);
  if (rows !== null) return { rows, snapshot: selection.folded?.snapshot ?? "" };
  return await readSelected(sql, selection, page);
}

const orNull = (value: unknown) => value ?? null;

/** Width and height, or null where neither is known. */
function size(width: unknown, height: unknown) {
  return width === null && height === null ? null : { width, height };
}

/** A stored event as replies and exports show it. */
export function shownEvent(row: StoredEventRow) {
  return {
    eventId: row.event_id,
    name: row.name,
    timestamp: row.occurred_at.toISOString(),
    clock: row.clock,
    anonymousId: orNull(row.anonymous_id),
    userId: orNull(row.user_id),
    sessionId: orNull(row.session_id),
    url: orNull(row.url),
    path: orNull(row.path),
    referrer: orNull(row.referrer),
    title: orNull(row.title),
    properties: row.properties,
    context: {
      viewport: size(row.viewport_width, row.viewport_height),
      screen: size(row.screen_width, row.screen_height),
      locale: orNull(row.locale),
      timezone: orNull(row.timezone),
    },
    campaign: {
      source: orNull(row.utm_source),
      medium: orNull(row.utm_medium),
      campaign: orNull(row.utm_campaign),
      term: orNull(row.utm_term),
      content: orNull(row.utm_content),
      clickId: orNull(row.click_id_kind),
    },
    browser: orNull(row.browser),
    os: orNull(row.os),
    device: orNull(row.device),
    bot: orNull(row.bot),
    inSession: row.in_session,
    extra: orNull(row.extra),
  };
}
