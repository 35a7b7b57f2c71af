import { windowMsOf } from "./funnel_definition.ts";
import { type FunnelQuestion, FunnelScans } from "./funnel_scans.ts";
import type { SqlParams } from "./sql_params.ts";

/**
 * The common table expressions of a funnel:
 * - `entered (actor_id, tick, doomed, late)`: each actor once, with the entry of the attempt that
 *   counts; doomed: an excluded event follows in its window; late: an attempt's window has not ended
 * - `reached_k (actor_id, ms)` for each step k from the second: who reached it in that attempt, and
 *   how long after the step before
 */
export type FunnelTables = readonly string[];

/** The window in SQL, as milliseconds and as ticks. */
interface Window {
  readonly ms: string;
  readonly ticks: string;
}

/** The last tick that lies in the window of an entry: all of its last millisecond do. */
function endOf(entry: string, window: Window): string {
  return `((${entry} | 65535) + ${window.ticks})`;
}

/** Excluded events, once for each exclusion that they match. */
function blocks({ excluded }: FunnelScans): string {
  const each = excluded.map((where) => `SELECT f.actor_id, f.tick FROM facts f WHERE ${where}`);
  return `blocks AS (${each.join(" UNION ALL ")})`;
}

/**
 * Which events are step k of some attempt in time, for k from 2, with the latest entry that leads
 * there. A later entry has more time and fewer excluded events behind it, so that the latest entry
 * that leads to a step is all that the following steps need to know of those before.
 *
 * One running maximum over the events of an actor, in order. Codes: 0 excluded events, 1 step k,
 * 2 what leads to it; in this order at one event, which is no two steps, and no step if excluded.
 */
function way(scans: FunnelScans, k: number, window: Window): string {
  const before = k === 2
    ? `SELECT f.actor_id, f.tick, 2 AS code, f.tick AS entry FROM facts f
      WHERE ${scans.entry} AND f.actor_id IN (SELECT f.actor_id FROM facts f WHERE ${
      scans.step(2)
    })`
    : `SELECT actor_id, tick, 2 AS code, entry FROM way_${k - 1}`;
  const known = k === 2 ? "" : `AND f.actor_id IN (SELECT actor_id FROM way_${k - 1})`;
  const excluded = scans.excluded.length === 0
    ? ""
    : "UNION ALL SELECT actor_id, tick, 0, NULL FROM blocks";
  return `way_${k} AS (
    SELECT actor_id, tick, entry, block
    FROM (
      SELECT actor_id, tick, code, max(entry) OVER past AS entry,
        ${
    scans.excluded.length === 0 ? "NULL::int8" : "max(tick) FILTER (WHERE code = 0) OVER past"
  } AS block
      FROM (
        ${before}
        UNION ALL
        SELECT f.actor_id, f.tick, 1, NULL FROM facts f WHERE ${scans.step(k)} ${known}
        ${excluded}) AS events
      WINDOW past AS (PARTITION BY actor_id ORDER BY tick, code ROWS UNBOUNDED PRECEDING)) AS seen
    WHERE code = 1 AND tick <= ${endOf("entry", window)} AND coalesce(entry >= block, true))`;
}

/**
 * From when on an actor's entries lead to its deepest step. Of the events that are that step the
 * first one decides: whatever entry lies in the window before it, and behind the last excluded
 * event, leads to this event and to no earlier one.
 */
function deepest(stepCount: number, window: Window): string {
  const levels = Array.from({ length: stepCount - 1 }, (_, i) => i + 2)
    .map((k) => `SELECT actor_id, ${k} AS level, tick, block FROM way_${k}`);
  return `deepest AS (
    SELECT DISTINCT ON (actor_id) actor_id,
      greatest(((tick >> 16) - ${window.ms}) << 16, block) AS first_tick
    FROM (${levels.join(" UNION ALL ")}) AS reached
    ORDER BY actor_id, level DESC, tick)`;
}

/** Who enters, by which entry: the first one, or of those to the deepest step the earliest. */
function placed(scans: FunnelScans, isAny: boolean): string {
  const first = isAny
    ? "min(f.tick) FILTER (WHERE coalesce(f.tick >= d.first_tick, true))"
    : "min(f.tick)";
  return `placed AS (
    SELECT f.actor_id, ${first} AS tick, ${isAny ? "max" : "min"}(f.tick) AS last_tick
    FROM facts f ${isAny ? "LEFT JOIN deepest d ON d.actor_id = f.actor_id" : ""}
    WHERE ${scans.entry}
    GROUP BY f.actor_id)`;
}

/** The attempts that count: from `tick` up to `until`, which is the end of the window or a block. */
function entered(scans: FunnelScans, window: Window, asOf: string): string {
  const late = `(p.last_tick >> 16) + ${window.ms} > ${asOf} AS late`;
  const end = endOf("p.tick", window);
  if (scans.excluded.length === 0) {
    return `entered AS (
      SELECT p.actor_id, p.tick, ${end} AS until, false AS doomed, ${late} FROM placed p)`;
  }
  return `entered AS (
    SELECT p.actor_id, p.tick, coalesce(min(b.tick) - 1, ${end}) AS until,
      min(b.tick) IS NOT NULL AS doomed, ${late}
    FROM placed p
    LEFT JOIN blocks b ON b.actor_id = p.actor_id AND b.tick > p.tick AND b.tick <= ${end}
    GROUP BY p.actor_id, p.tick, p.last_tick)`;
}

/** Each step at its earliest event after the step before. */
function reached(scans: FunnelScans, k: number): string {
  const before = k === 2 ? "entered" : `reached_${k - 1}`;
  return `reached_${k} AS (
    SELECT s.actor_id, min(s.until) AS until, min(f.tick) AS tick,
      (min(f.tick) >> 16) - (min(s.tick) >> 16) AS ms
    FROM facts f
    JOIN ${before} s ON s.actor_id = f.actor_id AND f.tick > s.tick AND f.tick <= s.until
    WHERE ${scans.step(k)}
    GROUP BY s.actor_id)`;
}

/**
 * A funnel whose steps follow each other in order. Each statement's part is linear in the events it
 * looks at: no event of an actor is joined with another, only with the actor's one row.
 */
export function orderedTables(params: SqlParams, question: FunnelQuestion): FunnelTables {
  const { definition } = question;
  const scans = new FunnelScans(params, question);
  const ms = params.ms(windowMsOf(definition));
  const window: Window = { ms, ticks: `(${ms} << 16)` };
  const stepCount = definition.steps.length;
  const later = Array.from({ length: stepCount - 1 }, (_, i) => i + 2);
  // With one step every attempt is as deep as can be.
  const isAny = definition.entry === "any" && stepCount > 1;
  return [
    ...scans.excluded.length === 0 ? [] : [blocks(scans)],
    ...isAny ? [...later.map((k) => way(scans, k, window)), deepest(stepCount, window)] : [],
    placed(scans, isAny),
    entered(scans, window, params.ms(question.asOfMs)),
    ...later.map((k) => reached(scans, k)),
  ];
}
