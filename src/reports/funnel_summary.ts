import type { Sql } from "../db/sql.ts";
import { FUNNEL_GROUPS_MAX } from "../limits.ts";
import type { Field } from "../selection/filters.ts";
import { anyFactConditions, factValue } from "../selection/selection.ts";
import type { SqlParams } from "../selection/sql_params.ts";
import { type FunnelQuestion, FunnelScans } from "./funnel_scans.ts";
import type { FunnelTables } from "./funnel_sql.ts";

/** How many actors reached a step, and how long they took since the step before. */
export interface StepTally {
  readonly actors: number;
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
}

export interface FunnelGroupTally {
  readonly value: string | null;
  readonly steps: readonly StepTally[];
}

export interface FunnelTally {
  readonly steps: readonly StepTally[];
  readonly excluded: number;
  readonly open: number;
  /** The largest, and one for all others; null where nothing tells groups apart. */
  readonly groups: readonly FunnelGroupTally[] | null;
}

interface TallyRow extends Record<string, unknown> {
  /** 0: everybody; from 1 on: a group, the largest first. */
  readonly place: number;
  readonly key: string | null;
  readonly step: number;
  readonly actors: number;
  readonly ms: readonly (number | null)[] | null;
  readonly excluded: number | null;
  readonly open: number | null;
}

/** Of a group that is all but the largest ones. */
export const OTHER = "$other";
const TIMES = "percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY r.ms)";
/** A value as a text that is never null: equal ones are joined by hash, missing ones too. */
const MISSING = "";

/** A full join, of which nothing is left over on the right: it is never done by nested loops. */
function withConverted(stepCount: number): { join: string; isConverted: string } {
  return stepCount === 1 ? { join: "", isConverted: "true" } : {
    join: `FULL JOIN reached_${stepCount} c ON c.actor_id = e.actor_id`,
    isConverted: "c.actor_id IS NOT NULL",
  };
}

/** Where entries are found among the facts: any step enters an unordered funnel. */
function entryConditions(params: SqlParams, question: FunnelQuestion): string {
  const { definition, scope, span } = question;
  return definition.order === "unordered"
    ? anyFactConditions(params, scope, span)
    : new FunnelScans(params, question).entry;
}

/** Which group each actor is in, by the value at its entry: those of equal values, numbered by size. */
function groupTables(params: SqlParams, question: FunnelQuestion, by: Field): string[] {
  const { joins, value } = factValue(params, question.scope, by);
  const { join, isConverted } = withConverted(question.definition.steps.length);
  return [
    `valued AS (
      SELECT f.actor_id, coalesce('=' || (${value}), '${MISSING}') AS key
      FROM facts f ${joins} JOIN entered e ON e.actor_id = f.actor_id AND e.tick = f.tick
      WHERE ${entryConditions(params, question)})`,
    `sized AS (
      SELECT e.key, row_number() OVER (
        ORDER BY count(*) DESC, count(*) FILTER (WHERE ${isConverted}) DESC, e.key = '${MISSING}', e.key COLLATE "C") AS size_rank
      FROM valued e ${join}
      GROUP BY e.key)`,
    `grouped AS (
      SELECT v.actor_id, v.key, least(s.size_rank, ${FUNNEL_GROUPS_MAX + 1})::int AS place
      FROM valued v JOIN sized s ON s.key = v.key)`,
  ];
}

function statement(
  params: SqlParams,
  question: FunnelQuestion,
  tables: FunnelTables,
): string {
  const { by, steps } = question.definition;
  const { join, isConverted } = withConverted(steps.length);
  const later = steps.map((_, i) => i + 1).slice(1);
  const all = [
    `SELECT 0 AS place, NULL AS key, 1 AS step, count(*) AS actors, NULL::float8[] AS ms,
      count(*) FILTER (WHERE NOT ${isConverted} AND e.doomed) AS excluded,
      count(*) FILTER (WHERE NOT ${isConverted} AND NOT e.doomed AND e.late) AS open
    FROM entered e ${join}`,
    ...later.map((k) => `SELECT 0, NULL, ${k}, count(*), ${TIMES}, NULL, NULL FROM reached_${k} r`),
  ];
  const groups = by === null ? [] : [
    "SELECT place, min(key), 1, count(*), NULL, NULL, NULL FROM grouped GROUP BY place",
    ...later.map((k) =>
      `SELECT g.place, NULL, ${k}, count(*), ${TIMES}, NULL, NULL
      FROM reached_${k} r JOIN grouped g ON g.actor_id = r.actor_id GROUP BY g.place`
    ),
  ];
  const named = by === null ? tables : [...tables, ...groupTables(params, question, by)];
  return `WITH ${named.join(", ")} ${[...all, ...groups].join(" UNION ALL ")}`;
}

function stepsOf(rows: readonly TallyRow[], stepCount: number): StepTally[] {
  const byStep = new Map(rows.map((row) => [row.step, row]));
  return Array.from({ length: stepCount }, (_, i) => {
    const row = byStep.get(i + 1);
    const [medianMs = null, p90Ms = null] = row?.ms ?? [];
    return { actors: row?.actors ?? 0, medianMs, p90Ms };
  });
}

function groupsOf(rows: readonly TallyRow[], stepCount: number): FunnelGroupTally[] {
  const byPlace = Map.groupBy(rows.filter(({ place }) => place > 0), ({ place }) => place);
  return [...byPlace].toSorted(([a], [b]) => a - b).map(([place, own]) => {
    const key = own.find(({ step }) => step === 1)!.key!;
    const value = key === MISSING ? null : key.slice(1);
    return { value: place > FUNNEL_GROUPS_MAX ? OTHER : value, steps: stepsOf(own, stepCount) };
  });
}

/** Counts what the tables of a funnel hold. Percentiles are `percentile_cont`, in milliseconds. */
export async function tally(
  sql: Sql,
  params: SqlParams,
  question: FunnelQuestion,
  tables: FunnelTables,
): Promise<FunnelTally> {
  const { by, steps } = question.definition;
  const text = statement(params, question, tables);
  const rows = await sql.query<TallyRow>(text, params.values);
  const all = rows.filter(({ place }) => place === 0);
  const entered = all.find(({ step }) => step === 1)!;
  return {
    steps: stepsOf(all, steps.length),
    excluded: entered.excluded!,
    open: entered.open!,
    groups: by === null ? null : groupsOf(rows, steps.length),
  };
}
