import { z } from "zod";
import type { Range } from "../../query/range.ts";
import type { Warning } from "../../query/warnings.ts";
import type { Compares } from "../../query/without_effect.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import type { OwnTerms, ParameterMatches } from "./narrowing.ts";

/** A report's answer, from which the reply is made. */
export interface Answer {
  /** Its own parameters as resolved, and shared ones that it resolves differently. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
  /** Further matches that it answers by, as of saved definitions: values that never occurred are warned of. */
  readonly matches?: ParameterMatches;
  /** Warnings of other kinds. */
  readonly warnings?: readonly Warning[];
  /** What to add to the report's semantics for this answer. */
  readonly semantics?: string;
  /** The end of the range that the answer is compared with, if `compare` does not determine it. */
  readonly comparedTo?: Date;
}

/** A report with its own parameters read. */
export interface Question {
  /** Throws Problem if the parameters do not fit the shared ones, such as for too many buckets. */
  readonly refuse?: (shared: SharedRead) => void;
  /** Returns the range to compare with; absent: the one that `compare` means in every read. */
  readonly comparison?: (shared: SharedRead) => Range | null;
  readonly answer: (read: Read) => Promise<Answer>;
  /** False: the report counts no people, such as a list of saved definitions; absent: it counts people. */
  readonly isCounted?: false;
  /** True: it shows one thing that its path names, whole, whatever `segment` is. */
  readonly isOfOne?: true;
  /** What its parameters name; absent: nothing that the caller chooses. */
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
  /** True: it warns if events are not counted yet, because it says what changed. */
  readonly warnsOfPending?: true;
  /** What it compares; absent: nothing, and a `compare` is answered with a warning. */
  readonly compares?: Exclude<Compares, "nothing">;
  /** False: the interval `hour` is refused. */
  readonly hourly?: boolean;
  /** True: it goes through the days of the range, whatever `interval` says. */
  readonly byDays?: true;
  /**
   * Reads the report's own parameters and the named segments of its path, before any statement. Throws Problem
   * `invalid_parameter` that names all bad ones.
   */
  readonly ask: (query: URLSearchParams, params: Readonly<Record<string, string>>) => Question;
}

/** A rate, with its numerator and denominator. */
export const RateShown = z.object({
  value: z.number().nullable(),
  numerator: z.int(),
  denominator: z.int(),
}).meta({ id: "Rate", description: "`value` is null when the denominator is 0." });

export type Rate = z.output<typeof RateShown>;

/** Returns numerator / denominator; the value is null if the denominator is 0. */
export function rate(numerator: number, denominator: number): Rate {
  return { value: denominator === 0 ? null : numerator / denominator, numerator, denominator };
}
