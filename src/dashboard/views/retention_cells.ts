import { bucketLabel, counted, integer, NOTHING, percent } from "../number_format.ts";
import { OTHER } from "../filter_fields.ts";
import type { Cohort } from "../../reports/retention/cohort.ts";
import type { RETENTION_REPLY } from "../../reports/retention/retention.ts";
import type { Rate } from "../../reports/answer/report.ts";
import type { CsvContent } from "../csv_button.tsx";
import type { ReplyOf } from "../replies.ts";
import type { Every } from "./retention_question.ts";

/** `GET /v1/retention`. */
export interface RetentionReply extends ReplyOf<typeof RETENTION_REPLY> {
  readonly query: { readonly interval: Every };
}

/**
 * `open`: has not begun; `running`: has not ended; `nobody`: there is nobody who could return, or
 * too few did to be shown in a share.
 */
export type CellState = "complete" | "running" | "open" | "nobody";

export interface Cell {
  readonly state: CellState;
  readonly rate: Rate;
  /** The text that is shown. */
  readonly text: string;
  /** The same with its numbers, in words. */
  readonly words: string;
}

/** One row of the triangle. */
export interface TriangleRow {
  readonly name: string;
  readonly shortName: string;
  /** When the cohort begins; null: the row is of several. */
  readonly start: string | null;
  /** Null: the row is the average. */
  readonly size: number | null;
  readonly cells: readonly Cell[];
}

const EVERY_NAMES: Readonly<Record<Every, string>> = { day: "Day", week: "Week", month: "Month" };

/** What a period is called: "Week 3". */
export function periodName(every: Every, period: number): string {
  return `${EVERY_NAMES[every]} ${period}`;
}

const countWords = ({ numerator, denominator }: Rate): string =>
  `${integer(numerator)} of ${counted(denominator, "person", "people")}`;

function cellOf(
  { period, actors, rate, complete }: Cohort["cells"][number],
  every: Every,
  /** Nobody joins the cohort any more. */
  isClosed: boolean,
  size: number,
): Cell {
  if (actors === null && size > 0 && rate.denominator === 0) {
    return { state: "nobody", rate, text: NOTHING, words: "Nobody, or too few people to be shown" };
  }
  if (actors === null) {
    return { state: "open", rate, text: "", words: `This ${every} has not begun yet` };
  }
  const came = period === 0 ? "" : " came back";
  if (rate.value === null) {
    return isClosed
      ? { state: "nobody", rate, text: NOTHING, words: "Nobody is in this cohort" }
      : { state: "running", rate, text: NOTHING, words: "Nobody is in this cohort so far" };
  }
  const words = `${countWords(rate)}${came}`;
  return complete ? { state: "complete", rate, text: percent(rate.value), words } : {
    state: "running",
    rate,
    text: percent(rate.value),
    words: `${words} so far: this ${every} is not over`,
  };
}

function averageRow({ average }: RetentionReply, every: Every): TriangleRow {
  const cells = average.map(({ rate }): Cell =>
    rate.value === null
      ? { state: "open", rate, text: "", words: `No cohort has finished this ${every} yet` }
      : {
        state: "complete",
        rate,
        text: percent(rate.value),
        words: `${countWords(rate)}, in all cohorts that have finished this ${every}`,
      }
  );
  return { name: "Average", shortName: "Average", start: null, size: null, cells };
}

/** The name of the row for all cohorts that are too small to be shown. */
const OTHER_COHORTS = "All others";

/** The rows of the triangle: the average, then every cohort. */
export function triangleRows(reply: RetentionReply): readonly TriangleRow[] {
  const every = reply.query.interval;
  const cohorts = reply.cohorts.map(({ start, label, size, cells }) => ({
    name: label === OTHER ? OTHER_COHORTS : bucketLabel(label, every, "full"),
    shortName: label === OTHER
      ? OTHER_COHORTS
      : bucketLabel(label, every, every === "month" ? "full" : "axis"),
    start: label === OTHER ? null : start,
    size,
    cells: cells.map((cell) => cellOf(cell, every, cells[0]?.complete === true, size)),
  }));
  return [averageRow(reply, every), ...cohorts];
}

/** The rates, then the people behind them; what has not begun is empty. */
export function triangleCsv({ cohorts, average, query }: RetentionReply): CsvContent {
  const every = query.interval;
  const names = average.map(({ period }) => periodName(every, period));
  const running = ({ cells }: Cohort) =>
    cells.find(({ actors, complete }) => actors !== null && !complete)?.period;
  return {
    header: [
      "Cohort",
      "People",
      ...names,
      ...names.map((name) => `${name}: people`),
      `${EVERY_NAMES[every]} that is not over`,
    ],
    rows: [
      ...cohorts.map((cohort) => [
        cohort.label,
        cohort.size,
        ...cohort.cells.map(({ actors, rate }) => actors === null ? null : rate.value),
        ...cohort.cells.map(({ actors }) => actors),
        running(cohort),
      ]),
      [
        "Average",
        null,
        ...average.map(({ rate }) => rate.value),
        ...average.map(({ rate }) => rate.value === null ? null : rate.numerator),
        null,
      ],
    ],
  };
}
