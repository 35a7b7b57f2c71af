import type { Range } from "./calendar.ts";
import type { ReadParams } from "./filters.ts";
import type { World } from "./world.ts";

/** What a value comes to on a day; null: the source does not tell it. */
export interface ImportedRow {
  readonly value: string | null;
  readonly visitors: number | null;
  readonly visits: number | null;
  readonly pageviews: number | null;
  readonly bounces: number | null;
  readonly seconds: number | null;
  readonly events: number | null;
}

/** What a source tells of a day, split by one dimension. */
export interface ImportedFact {
  readonly source: "plausible" | "fathom" | "goatcounter";
  /** A date. */
  readonly day: string;
  readonly dimension: string;
  readonly rows: readonly ImportedRow[];
}

/** A day with all that the one source of it tells. */
export interface ShownDay {
  readonly fromMs: number;
  readonly rowsOf: ReadonlyMap<string, readonly ImportedRow[]>;
}

/** Of several sources of a day the first of these counts. */
const ORDER = ["plausible", "fathom", "goatcounter"] as const;

const startMs = (date: Temporal.PlainDate, timezone: string) =>
  date.toZonedDateTime(timezone).epochMilliseconds;

/** When the first day with an event of its own begins; Infinity: there is none. */
export function ownFromMs({ events, project: { timezone } }: World): number {
  if (events.length === 0) return Infinity;
  const firstMs = Math.min(...events.map(({ occurred_at }) => Date.parse(occurred_at)));
  const date = Temporal.Instant.fromEpochMilliseconds(firstMs).toZonedDateTimeISO(timezone);
  return startMs(date.toPlainDate(), timezone);
}

/**
 * The imported days that a read shows: whole days of the range that lie before the first own one, of
 * which the day's source tells the dimension; none where the read asks for what sums do not tell.
 */
export function shownDays(
  world: World,
  params: ReadParams,
  range: Pick<Range, "fromMs" | "toMs">,
  dimension: string,
): ShownDay[] {
  const { timezone } = world.project;
  const isAnswerable = (params.filters ?? []).length === 0 &&
    (params.bots ?? "exclude") === "exclude" && (params.timezone ?? timezone) === timezone;
  if (!isAnswerable) return [];
  const shown: ShownDay[] = [];
  for (const day of [...new Set((world.imported ?? []).map(({ day }) => day))].sort()) {
    const date = Temporal.PlainDate.from(day);
    const [fromMs, toMs] = [startMs(date, timezone), startMs(date.add({ days: 1 }), timezone)];
    const facts = world.imported!.filter((fact) => fact.day === day);
    const source = ORDER.find((one) => facts.some((fact) => fact.source === one));
    const rowsOf = new Map(
      facts.filter((fact) => fact.source === source).map((fact) => [fact.dimension, fact.rows]),
    );
    const isWithin = fromMs < toMs && fromMs >= range.fromMs && toMs <= range.toMs;
    if (isWithin && toMs <= ownFromMs(world) && rowsOf.has(dimension)) {
      shown.push({ fromMs, rowsOf });
    }
  }
  return shown;
}

/** The sum of what is told; null where nothing is. */
export function told(
  rows: readonly ImportedRow[],
  figure: Exclude<keyof ImportedRow, "value">,
): number | null {
  const known = rows.map((row) => row[figure]).filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((total, count) => total + count, 0);
}

/** The sum of one figure over the rows that tell another one too. */
export function toldWith(
  rows: readonly ImportedRow[],
  figure: Exclude<keyof ImportedRow, "value">,
  other: Exclude<keyof ImportedRow, "value">,
): number {
  return told(rows.filter((row) => row[other] !== null), figure) ?? 0;
}

/** A count of own events and an imported one: null only where there are no own days and nothing is told. */
export function together(own: number | null, imported: number | null): number | null {
  return own === null ? imported : own + (imported ?? 0);
}
