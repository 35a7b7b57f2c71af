import { z } from "zod";
import type { EventMatch } from "../../query/filters.ts";
import { matchFilters } from "../../query/selection.ts";
import type { Asking, Warning } from "../../query/warnings.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import type { OwnTerms } from "./narrowing.ts";

/** What a report found. */
export interface Answer {
  /** Its own parameters as resolved, and shared ones that it resolved otherwise. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
  /** What the report's own parameters look for, so that values that never were are told. */
  readonly asking?: readonly Asking[];
  /** Told beside those of values that never were. */
  readonly warnings?: readonly Warning[];
  /** What this answer holds beyond what the report's own semantics say. */
  readonly semantics?: string;
  /** Members that change from one moment to the next, and are no reason for a new ETag. */
  readonly volatile?: Readonly<Record<string, unknown>>;
}

/** What matches in a parameter look for; those of any event look for nothing. */
export function askingOf(
  matches: Readonly<Record<string, readonly (EventMatch | null)[]>>,
): Asking[] {
  return Object.entries(matches).map(([parameter, some]) => ({
    parameter,
    filters: some.flatMap((match) => match === null ? [] : matchFilters(match)),
  }));
}

/** A report's own parameters, read. */
export interface Question {
  /** Throws Problem where they do not go with the shared ones, such as in too many buckets. */
  readonly refuse?: (shared: SharedRead) => void;
  readonly answer: (read: Read) => Promise<Answer>;
  /** False: it counts nobody, such as a list of what is saved; absent: it counts people. */
  readonly isCounted?: false;
  /** It tells of what its path names, whole, whatever segment is asked for. */
  readonly isOfOne?: true;
  /** What its parameters name; absent: nothing but what is fixed or saved. */
  readonly terms?: OwnTerms;
}

/** One question, and so one endpoint: `GET <path>`. */
export interface Report {
  readonly path: string;
  readonly summary: string;
  /** Beyond the shared parameters: name → description. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What the numbers mean, echoed as `query.semantics`. */
  readonly semantics: string;
  /** Members of the reply beside `query` and `asOf`. */
  readonly reply: Readonly<Record<string, z.ZodType>>;
  /** False where the interval `hour` is refused. */
  readonly hourly?: boolean;
  /**
   * Reads the report's own parameters and the named segments of its path, and looks at nothing else:
   * this comes before any statement. Throws Problem `invalid_parameter` that names all bad ones.
   */
  readonly ask: (query: URLSearchParams, params: Readonly<Record<string, string>>) => Question;
}

/** A rate, with what it was made of. */
export const RateShown = z.object({
  value: z.number().nullable(),
  numerator: z.int(),
  denominator: z.int(),
}).meta({ id: "Rate", description: "`value` is null when the denominator is 0." });

export type Rate = z.output<typeof RateShown>;

/** numerator / denominator; of nothing there is no rate. */
export function rate(numerator: number, denominator: number): Rate {
  return { value: denominator === 0 ? null : numerator / denominator, numerator, denominator };
}
