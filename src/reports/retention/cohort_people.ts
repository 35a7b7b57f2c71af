import { z } from "zod";
import { RETENTION_PERIODS_MAX } from "../../limits.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter, oneOf } from "../../query/parameters.ts";
import type { Read } from "../../scans/read.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import type { Behind } from "../behind/behind_tally.ts";
import { askingOf } from "../answer/report.ts";
import { askedOf, type Own, readOwn, RETENTION } from "./retention.ts";
import { findMembers } from "./retention_scan.ts";

const INTERVALS = ["day", "week", "month"] as const;

const Place = z.strictObject({
  cohort: z.iso.datetime('Use the "start" of a cohort.'),
  period: z.int().min(0).max(RETENTION_PERIODS_MAX - 1).optional(),
});

/** A cell of a cohort; without a period all of the cohort. */
type Place = z.output<typeof Place>;

async function find(
  read: Read,
  own: Own,
  { cohort: start, period }: Place,
): Promise<Behind> {
  const asked = askedOf(own, read);
  const startMs = Date.parse(start);
  const cohort = asked.periods.slice(0, asked.cohortCount)
    .findIndex((one) => one.startMs === startMs);
  if (cohort === -1) throw invalidParameter("of", "In this range no cohort starts then.");
  return await findMembers(read, asked, { cohort, period: period ?? null });
}

/** Who is of a cohort, and who of it came back in a period. */
export const COHORT_PEOPLE: NumberedRead = {
  name: "retention",
  parameters: [...Object.keys(RETENTION.parameters), "interval"],
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const own = readOwn(query);
    const interval = oneOf(query, "interval", INTERVALS, "day");
    const place = readJson(query, "place", Place)!;
    if ((place.period ?? 0) >= own.cellCount) {
      throw invalidParameter("place", `A cohort has ${own.cellCount} cells, counted from 0.`);
    }
    return {
      find: (read) => find({ ...read, interval }, own, place),
      asking: askingOf({ of: [own.start, own.back] }),
    };
  },
};
