import type { Read } from "../walks/read.ts";
import type { Calendar } from "./insight_calendar.ts";
import type { Asked, Candidate } from "./insight_candidates.ts";
import { candidatesInFacts } from "./insight_facts.ts";
import { areCandidatesKnownToHistories, candidatesInHistories } from "./insight_histories.ts";

/**
 * Of each that is asked for: what everything together comes to, first, then each of the values with
 * most events of each of the dimensions, all by the definitions of the key figures under a filter on
 * the value: visitors, page views and events of selected facts (those of the match only, where one is
 * given), sessions that hold one of them, and how many of these bounce.
 */
export async function readCandidates(
  read: Pick<Read, "sql" | "scope" | "histories">,
  calendar: Calendar,
  asked: readonly Asked[],
): Promise<Candidate[][]> {
  const known = asked.filter((one) => areCandidatesKnownToHistories(read, one));
  const counted = known.length === 0 ? null : await candidatesInHistories(read, calendar, known);
  const told = new Map(counted?.map((candidates, i) => [known[i]!, candidates]));
  const all: Candidate[][] = [];
  for (const one of asked) {
    all.push(told.get(one) ?? await candidatesInFacts(read, calendar, one));
  }
  return all;
}
