import { z } from "zod";
import { FILTER_TEXT_LENGTH_MAX } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { type EventMatch, readJson } from "../../query/filters.ts";
import { invalidParameter, refuseUnknown } from "../../query/parameters.ts";
import type { Read } from "../../scans/read.ts";
import { StorableText } from "../../text_schemas.ts";
import type { Behind } from "./behind_tally.ts";

/** What is listed: visits or people. */
export type Listed = "visits" | "people";

/** One number of another read's answer. */
interface NumberBehind {
  /** Finds the people or visits that the number counts, under the list's shared parameters. */
  readonly find: (read: Read) => Promise<Behind>;
  /** The matches in its parameters, for warnings of values that never occurred; null: any event. */
  readonly matches?: readonly (EventMatch | null)[];
}

/** A read whose numbers the parameter `of` may name. */
export interface NumberedRead {
  /** Its name in `of`. */
  readonly name: string;
  /** The read's own parameters that `of` may have. */
  readonly parameters: readonly string[];
  /**
   * Reads these parameters and `place`, which names the number in the answer, before any statement. Throws
   * Problem `invalid_parameter`.
   */
  readonly ask: (query: URLSearchParams, listed: Listed) => NumberBehind;
}

/** A value in `place`. */
export const PlaceText = StorableText.max(FILTER_TEXT_LENGTH_MAX);

const Of = z.looseObject({
  read: z.string("Name the read that has the number."),
  place: z.looseObject({}, "Say which number of the answer is meant."),
});

/** The description of the parameter `of`. */
export const OF_USAGE =
  'The people or visits that a number of another read counts: JSON {"read", "place", …the read\'s own parameters}, under the shared parameters of this read. ';

/** Reads `of`: returns its members and the number that it names; null: it is not given. */
export function readNumber(
  query: URLSearchParams,
  reads: readonly NumberedRead[],
  listed: Listed,
): { readonly of: z.output<typeof Of>; readonly number: NumberBehind } | null {
  const of = readJson(query, "of", Of);
  if (of === null) return null;
  const { read: name, ...members } = of;
  const read = reads.find((one) => one.name === name);
  if (read === undefined) {
    throw invalidParameter("of", `read: Use one of ${reads.map((one) => one.name).join(", ")}.`);
  }
  const parameters = new URLSearchParams(
    Object.entries(members).map(([member, value]) => [
      member,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
  const interval = query.get("interval");
  if (interval && read.parameters.includes("interval") && !parameters.has("interval")) {
    parameters.set("interval", interval);
  }
  try {
    refuseUnknown(parameters, [...read.parameters, "place"]);
    return { of, number: read.ask(parameters, listed) };
  } catch (error) {
    // The bad parameter is a member of `of`, whatever its name in the other read is.
    if (!(error instanceof Problem)) throw error;
    throw invalidParameter("of", error.detail.slice(0, 500));
  }
}

/** Throws Problem `invalid_parameter` if the number counts visits and the list shows people, or the reverse. */
export function refuseListed(listed: Listed, counts: Listed): void {
  if (listed === counts) return;
  throw invalidParameter("place", `It counts ${counts}: ask ${PATHS[counts]} for them.`);
}

const PATHS: Readonly<Record<Listed, string>> = { visits: "/v1/visits", people: "/v1/actors" };
