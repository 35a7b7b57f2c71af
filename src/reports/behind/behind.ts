import { z } from "zod";
import { FILTER_TEXT_LENGTH_MAX } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter, isStorable, refuseUnknown } from "../../query/parameters.ts";
import type { Asking } from "../../query/warnings.ts";
import type { Read } from "../../scans/read.ts";
import type { Behind } from "./behind_tally.ts";

/** What is listed: visits or people. */
export type Listed = "visits" | "people";

/** One number of an answer. */
interface AskedNumber {
  /** Whom it counts, under the shared parameters of the list: found by the visitor that counts them. */
  readonly find: (read: Read) => Promise<Behind>;
  /** What its question looks for, so that values that never were are told. */
  readonly asking: readonly Asking[];
}

/** A read of whose numbers `of` asks. */
export interface NumberedRead {
  /** As `of` names it. */
  readonly name: string;
  /** Its own parameters, as `of` may hold them. */
  readonly parameters: readonly string[];
  /**
   * Reads them, and `place`, which says which number of the answer is meant, before any statement.
   * Throws Problem `invalid_parameter`.
   */
  readonly ask: (query: URLSearchParams, listed: Listed) => AskedNumber;
}

/** A value, as a place in an answer names it. */
export const PlaceText = z.string().max(FILTER_TEXT_LENGTH_MAX)
  .refine(isStorable, "Use text without NUL and lone surrogates.");

const Of = z.looseObject({
  read: z.string("Name the read that the number is of."),
  place: z.looseObject({}, "Say which number of the answer is meant."),
});

/** `of` in the words of the documentation. */
export const OF_USAGE =
  'Whom a number of another read counts: JSON {"read", "place", …the read\'s own parameters}, under the shared parameters of this read. ';

/** The number that `of` names, and what it says: read, parameters and place; null where it is not given. */
export function readNumber(
  query: URLSearchParams,
  reads: readonly NumberedRead[],
  listed: Listed,
): { readonly of: z.output<typeof Of>; readonly number: AskedNumber } | null {
  const of = readJson(query, "of", Of);
  if (of === null) return null;
  const { read: name, ...members } = of;
  const read = reads.find((one) => one.name === name);
  if (read === undefined) {
    throw invalidParameter("of", `read: Use one of ${reads.map((one) => one.name).join(", ")}.`);
  }
  const own = new URLSearchParams(
    Object.entries(members).map(([member, value]) => [
      member,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
  try {
    refuseUnknown(own, [...read.parameters, "place"]);
    return { of, number: read.ask(own, listed) };
  } catch (error) {
    // What is wrong is a part of `of`, whatever it is called in its own read.
    if (!(error instanceof Problem)) throw error;
    throw invalidParameter("of", error.detail.slice(0, 500));
  }
}

/** A list that does not have what the number counts. Throws Problem `invalid_parameter`. */
export function refuseListed(listed: Listed, counts: Listed): void {
  if (listed === counts) return;
  throw invalidParameter("place", `It counts ${counts}: ask ${PATHS[counts]} for them.`);
}

const PATHS: Readonly<Record<Listed, string>> = { visits: "/v1/visits", people: "/v1/actors" };
