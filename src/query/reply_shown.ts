import { z } from "zod";
import { Warning } from "./warnings.ts";

/**
 * Returns the schema of a read's reply.
 * @param query the members of its `query` in addition to the warnings
 */
export function replyShown<T extends z.ZodRawShape>(members: T, query: z.ZodRawShape = {}) {
  return z.object({
    query: z.looseObject({ warnings: z.array(Warning), ...query }),
    asOf: z.iso.datetime(),
    pending: z.int().describe(
      "Events that are stored and not counted yet: 0 as a rule. A read waits for them for " +
        "at most a second",
    ),
    ...members,
  });
}
