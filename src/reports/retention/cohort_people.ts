import { z } from "zod";
import { RETENTION_PERIODS_MAX } from "../../limits.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter, oneOf } from "../../query/parameters.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import { questionOf, readRetentionParameters, RETENTION } from "./retention.ts";
import { scanCohorts } from "./retention_scan.ts";
import { counted } from "../../number_words.ts";

const INTERVALS = ["day", "week", "month"] as const;

/** The number of a cohort that `of` names: the number in a cell, or without a period the cohort's size. */
const RetentionNumber = z.strictObject({
  cohort: z.iso.datetime('Use the "start" of a cohort.'),
  period: z.int().min(0).max(RETENTION_PERIODS_MAX - 1).optional(),
});

/** Lists the actors of a cohort, or only those who came back in a period. */
export const COHORT_PEOPLE: NumberedRead = {
  name: "retention",
  parameters: [...Object.keys(RETENTION.parameters), "interval"],
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const parameters = readRetentionParameters(query);
    const { cellCount, start, back } = parameters;
    const interval = oneOf(query, "interval", INTERVALS, "day");
    const { cohort: from, period = null } = readJson(query, "place", RetentionNumber)!;
    if ((period ?? 0) >= cellCount) {
      throw invalidParameter(
        "place",
        `A cohort has ${counted(cellCount, "cell")}, counted from 0.`,
      );
    }
    return {
      find: async (read) => {
        const question = questionOf(parameters, { ...read, interval });
        const fromMs = Date.parse(from);
        const cohort = question.periods.slice(0, question.cohortCount)
          .findIndex(({ startMs }) => startMs === fromMs);
        if (cohort === -1) throw invalidParameter("of", "In this range no cohort starts then.");
        return (await scanCohorts(read, question, { listed: { cohort, period } })).members;
      },
      matches: [start, back],
    };
  },
};
