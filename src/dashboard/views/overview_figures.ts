import type { ChartUnit } from "../chart_lines.ts";
import { DEFINITIONS } from "../definitions.ts";
import { decimal, duration, integer, percent } from "../number_format.ts";
import type { Kpis } from "../replies.ts";

/** A key figure: its name and meaning, where the reply has it, and its format. */
export interface Figure {
  readonly id: string;
  readonly label: string;
  readonly definition: string;
  readonly of: (kpis: Kpis) => number | null;
  readonly format: (value: number | null) => string;
  readonly unit?: ChartUnit;
  readonly isDownGood?: boolean;
}

type Count = "visitors" | "sessions" | "pageviews" | "newVisitors" | "events";

const count = (id: Count, label: string): Figure => ({
  id,
  label,
  definition: DEFINITIONS[id],
  of: (kpis) => kpis[id],
  format: integer,
  unit: "count",
});

/** In the order of the tiles; the first one is charted unless another is chosen. */
export const FIGURES: readonly Figure[] = [
  count("visitors", "Visitors"),
  count("sessions", "Visits"),
  count("pageviews", "Page views"),
  {
    id: "pagesPerVisit",
    label: "Views / visit",
    definition: DEFINITIONS.pageviewsPerSession,
    of: (kpis) => kpis.pageviewsPerSession,
    format: (value) => decimal(value, 2),
  },
  {
    id: "bounceRate",
    label: "Bounce rate",
    definition: DEFINITIONS.bounceRate,
    of: (kpis) => kpis.bounceRate.value,
    format: percent,
    unit: "fraction",
    isDownGood: true,
  },
  {
    id: "duration",
    label: "Visit duration",
    definition: DEFINITIONS.sessionDuration,
    of: (kpis) => kpis.sessionDuration.meanSeconds,
    format: duration,
    unit: "seconds",
  },
  count("newVisitors", "New visitors"),
  count("events", "Events"),
];

/** A rate changes in points, all else in percent. */
export function isRate({ unit }: Pick<Figure, "unit">): boolean {
  return unit === "fraction";
}

/**
 * (current − previous) / previous, null where there is nothing to divide by; of a rate the difference.
 */
export function changeOf(
  figure: Pick<Figure, "unit">,
  current: number | null,
  previous: number | null,
): number | null {
  if (current === null || previous === null) return null;
  if (isRate(figure)) return current - previous;
  return previous === 0 ? null : (current - previous) / previous;
}
