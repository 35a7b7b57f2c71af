import { z } from "zod";
import type { Row } from "../../db/sql.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { type BotChoice, isNarrowed, type Span } from "../../query/selection.ts";
import { decimalOf, DecimalSum } from "../../scans/decimal_sum.ts";
import type { ScanSource } from "../../scans/read.ts";
import type { Goal } from "../saved/goal_definitions.ts";
import type { StoredVisit, VisitConversion } from "./visit_rows.ts";
import { countWatched, watchedOf } from "./watched_counts.ts";

/** The value of a person's conversions, by currency. */
export const PersonValue = z.array(z.object({ amount: z.number(), currency: z.string() }));

/** Returns the SQL condition for sessions, alias s, with an event that passes `bots`. */
export function ofBots(bots: BotChoice): string {
  if (bots === "include") return "true";
  return bots === "exclude" ? "s.humans > 0" : "s.events > s.humans";
}

/** Counts the visits of each actor that start in the span; without filters, from the table of sessions. */
async function visitsOf(
  source: ScanSource,
  actors: readonly number[],
  span: Span,
): Promise<Map<number, number>> {
  const { sql, scope } = source;
  const params = new SqlParams();
  const project = params.int(scope.projectId);
  const ofActor = `v.actor_id = k.actor_id AND v.first_ms >= ${params.ms(span.fromMs)}
    AND v.first_ms < ${params.ms(span.toMs)}`;
  const own = `SELECT s.actor_id, s.first_ms, s.last_ms FROM unnest(${
    params.ints(actors)
  }) AS k (actor_id)
    CROSS JOIN ${keyedRow("sessions v", ofActor, project)} AS s WHERE ${ofBots(scope.bots)}`;
  if (!isNarrowed(scope)) {
    const counts = await sql.query<Row & { actor_id: number; visits: number }>(
      `SELECT actor_id, count(*) AS visits FROM (${own}) AS own GROUP BY actor_id`,
      params.values,
    );
    return new Map(counts.map((one) => [one.actor_id, one.visits]));
  }
  const sessions = await sql.query<Row & Pick<StoredVisit, "actor_id" | "first_ms" | "last_ms">>(
    own,
    params.values,
  );
  const figures = await countWatched(source, sessions.map(watchedOf), [], true);
  const selected = sessions.filter((_, i) => figures[i]!.events > 0);
  const byActor = Map.groupBy(selected, ({ actor_id }) => actor_id);
  return new Map([...byActor].map(([actor, some]) => [actor, some.length]));
}

function valueOf(goals: readonly VisitConversion[]): z.output<typeof PersonValue> {
  const sums = new Map<string, DecimalSum>();
  for (const { value: { amount, currency } } of goals) {
    const decimal = amount === null ? null : decimalOf(String(amount));
    if (decimal === null || currency === null) continue;
    sums.getOrInsertComputed(currency, () => new DecimalSum()).add(decimal);
  }
  return [...sums].map(([currency, sum]) => ({ amount: sum.value, currency }))
    .sort((a, b) => a.currency < b.currency ? -1 : 1);
}

/** Counts the selected events and visits of each of the actors in a span, in the order of the actors. */
export async function sumPeople(
  source: ScanSource,
  actors: readonly number[],
  span: Span,
  goals: readonly Goal[],
) {
  const watched = actors.map((actor) => ({ actor, ...span }));
  const valued = goals.filter(({ value }) => value !== null);
  const figures = await countWatched(source, watched, valued, false);
  const visits = await visitsOf(source, actors, span);
  return actors.map((actor, i) => {
    const { events, pageviews, lastMs, goals } = figures[i]!;
    return { lastMs, visits: visits.get(actor) ?? 0, pageviews, events, value: valueOf(goals) };
  });
}
