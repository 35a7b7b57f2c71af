import type { SqlParams } from "../selection/sql_params.ts";
import { windowMsOf } from "./funnel_definition.ts";
import { type FunnelQuestion, FunnelScans } from "./funnel_scans.ts";

/**
 * The common table expressions of a funnel:
 * - `entered (actor_id, tick, doomed, late)`: each actor once, with the entry of the attempt that
 *   counts; doomed: an excluded event follows in its window; late: an attempt's window has not ended
 * - `reached_k (actor_id, ms)` for each step k from the second: who reached it in that attempt, and
 *   how long after the step before
 */
export type FunnelTables = readonly string[];

/** What all parts of the statement share. */
interface Place {
  readonly scans: FunnelScans;
  readonly stepCount: number;
  readonly isExcluding: boolean;
  /** The window in SQL, as milliseconds and as ticks. */
  readonly windowMs: string;
  readonly windowTicks: string;
  readonly asOf: string;
}

/** The steps after the first. */
function laterSteps({ stepCount }: Place): number[] {
  return Array.from({ length: stepCount - 1 }, (_, i) => i + 2);
}

/** The last tick that lies in the window of an entry: all of its last millisecond do. */
function endOf(entry: string, { windowTicks }: Place): string {
  return `((${entry} | 65535) + ${windowTicks})`;
}

/** Excluded events, once for each exclusion that they match. */
function blocks({ scans }: Place): string {
  const each = scans.excluded.map((where) =>
    `SELECT f.actor_id, f.tick FROM facts f WHERE ${where}`
  );
  return `blocks AS (${each.join(" UNION ALL ")})`;
}

/** Each actor's first entry, and the last one of those that are tried. */
function placed({ scans }: Place, isAny: boolean): string {
  return `placed AS (
    SELECT f.actor_id, min(f.tick) AS tick, ${isAny ? "max" : "min"}(f.tick) AS last_tick
    FROM facts f WHERE ${scans.entry}
    GROUP BY f.actor_id)`;
}

/** Attempts, one an actor: from `tick` up to `until`, which is the end of the window or a block. */
function attempts(place: Place, name: string, from: string): string {
  const { windowMs, asOf, isExcluding } = place;
  const end = endOf("p.tick", place);
  const late = `p.last_tick, (p.last_tick >> 16) + ${windowMs} > ${asOf} AS late`;
  if (!isExcluding) {
    return `${name} AS (
      SELECT p.actor_id, p.tick, ${end} AS until, false AS doomed, ${late} FROM ${from} p)`;
  }
  return `${name} AS (
    SELECT p.actor_id, p.tick, coalesce(min(b.tick) - 1, ${end}) AS until,
      min(b.tick) IS NOT NULL AS doomed, ${late}
    FROM ${from} p
    LEFT JOIN blocks b ON b.actor_id = p.actor_id AND b.tick > p.tick AND b.tick <= ${end}
    GROUP BY p.actor_id, p.tick, p.last_tick)`;
}

/**
 * Each later step of attempts at its earliest event after the step before. `bound` says which events
 * of the step (alias f) and which attempts (alias s) are taken. Each actor has one attempt, so that
 * the actor's events are joined with one row alone.
 */
function steps(place: Place, start: string, name: string, bound: string): string[] {
  return laterSteps(place).map((k) =>
    `${name}_${k} AS (
    SELECT s.actor_id, min(s.until) AS until, min(f.tick) AS tick,
      (min(f.tick) >> 16) - (min(s.tick) >> 16) AS ms
    FROM facts f
    JOIN ${
      k === 2 ? start : `${name}_${k - 1}`
    } s ON s.actor_id = f.actor_id AND f.tick > s.tick AND ${bound}
    WHERE ${place.scans.step(k)}
    GROUP BY s.actor_id)`
  );
}

/**
 * Actors whose first attempt came to a step too late, or behind a block, while a later entry is early
 * enough for it. All others are decided: what the first attempt never reaches, however long it waits,
 * no later one does, and none is at a step before the first one is. `from_tick`: only from then on
 * do entries reach the step that was missed in time.
 */
function undecided(place: Place): string {
  const late = laterSteps(place)
    .map((k) => `SELECT actor_id, ${k} AS step, tick FROM first_${k} WHERE tick > until`);
  return `undecided AS (
    SELECT b.actor_id, m.step, ((m.tick >> 16) - ${place.windowMs}) << 16 AS from_tick
    FROM begun b JOIN (${late.join(" UNION ALL ")}) AS m ON m.actor_id = b.actor_id
    WHERE b.last_tick > b.tick AND m.tick <= ${endOf("b.last_tick", place)})`;
}

/** Joins the fact's actor with distinct ones: a semi-join could pair all events of one with each other. */
function ofActors(k: number): string {
  return k === 1
    ? "JOIN undecided a ON a.actor_id = f.actor_id AND f.tick >= a.from_tick"
    : `JOIN (SELECT DISTINCT actor_id FROM way_${k}) a ON a.actor_id = f.actor_id`;
}

/**
 * Which events are step k of some attempt in time, for k from 2, with the latest entry that leads
 * there. A later entry has more time and fewer excluded events behind it, so that the latest entry
 * that leads to a step is all that the following steps need to know of those before.
 *
 * One running maximum over the events of an actor, in order. Codes: 0 excluded events, 1 step k,
 * 2 what leads to it; in this order at one event, which is no two steps, and no step if excluded.
 */
function way(place: Place, k: number): string {
  const { scans, isExcluding } = place;
  const [block, excluded] = isExcluding
    ? [
      "max(tick) FILTER (WHERE code = 0) OVER past",
      `UNION ALL SELECT f.actor_id, f.tick, 0, NULL FROM blocks f ${ofActors(k - 1)}`,
    ]
    : ["NULL::int8", ""];
  const before = k === 2
    ? `SELECT f.actor_id, f.tick, 2 AS code, f.tick AS entry FROM facts f ${ofActors(1)}
      WHERE ${scans.entry}`
    : `SELECT actor_id, tick, 2 AS code, entry FROM way_${k - 1}`;
  return `way_${k} AS (
    SELECT actor_id, tick, entry, block
    FROM (
      SELECT actor_id, tick, code, max(entry) OVER past AS entry, ${block} AS block
      FROM (
        ${before}
        UNION ALL
        SELECT f.actor_id, f.tick, 1, NULL FROM facts f ${ofActors(k - 1)} WHERE ${scans.step(k)}
        ${excluded}) AS events
      WINDOW past AS (PARTITION BY actor_id ORDER BY tick, code ROWS UNBOUNDED PRECEDING)) AS seen
    WHERE code = 1 AND tick <= ${endOf("entry", place)} AND coalesce(entry >= block, true))`;
}

/**
 * The entries of the undecided who get further than by the first one. Of the events that are an
 * actor's deepest step the first one decides: whatever entry lies in the window before it, and behind
 * the last excluded event, leads to this event and to no earlier one. The earliest of these counts.
 */
function replaced(place: Place): string[] {
  const levels = laterSteps(place)
    .map((k) => `SELECT actor_id, ${k} AS step, tick, block FROM way_${k}`);
  return [
    `deepest AS (
      SELECT DISTINCT ON (w.actor_id) w.actor_id,
        greatest(((w.tick >> 16) - ${place.windowMs}) << 16, w.block) AS first_tick
      FROM (${levels.join(" UNION ALL ")}) AS w
      JOIN undecided u ON u.actor_id = w.actor_id AND w.step >= u.step
      ORDER BY w.actor_id, w.step DESC, w.tick)`,
    `replaced AS (
      SELECT f.actor_id, min(f.tick) AS tick, max(f.tick) AS last_tick
      FROM facts f JOIN deepest d ON d.actor_id = f.actor_id AND f.tick >= d.first_tick
      WHERE ${place.scans.entry}
      GROUP BY f.actor_id)`,
  ];
}

/** The attempts that count: the first ones, and of those who get further by another entry that one. */
function united(place: Place): string[] {
  const isFirst = "NOT EXISTS (SELECT FROM deepest d WHERE d.actor_id = a.actor_id)";
  return [
    `entered AS (
      SELECT actor_id, tick, doomed, late FROM begun a WHERE ${isFirst}
      UNION ALL SELECT actor_id, tick, doomed, late FROM again)`,
    ...laterSteps(place).map((k) =>
      `reached_${k} AS (
        SELECT actor_id, ms FROM first_${k} a WHERE tick <= until AND ${isFirst}
        UNION ALL SELECT actor_id, ms FROM again_${k})`
    ),
  ];
}

const IN_TIME = "f.tick <= s.until";

/**
 * A funnel whose steps follow each other in order. Linear in the events that it looks at, but for
 * one sort of those of the undecided: no event of an actor is joined with another.
 */
export function orderedTables(params: SqlParams, question: FunnelQuestion): FunnelTables {
  const { definition, asOfMs } = question;
  const windowMs = params.ms(windowMsOf(definition));
  const place: Place = {
    scans: new FunnelScans(params, question),
    stepCount: definition.steps.length,
    isExcluding: definition.exclude.length > 0,
    windowMs,
    windowTicks: `(${windowMs} << 16)`,
    asOf: params.ms(asOfMs),
  };
  const isAny = definition.entry === "any";
  const begin = [...place.isExcluding ? [blocks(place)] : [], placed(place, isAny)];
  // With one step every attempt is as deep as can be.
  if (!isAny || place.stepCount === 1) {
    return [
      ...begin,
      attempts(place, "entered", "placed"),
      ...steps(place, "entered", "reached", IN_TIME),
    ];
  }
  return [
    ...begin,
    attempts(place, "begun", "placed"),
    ...steps(place, "begun", "first", "s.tick <= s.until"),
    undecided(place),
    ...laterSteps(place).map((k) => way(place, k)),
    ...replaced(place),
    attempts(place, "again", "replaced"),
    ...steps(place, "again", "again", IN_TIME),
    ...united(place),
  ];
}
