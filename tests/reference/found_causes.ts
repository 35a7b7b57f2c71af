import { type Cause, searchCauses } from "../../src/reports/insights/insight_causes.ts";

/** What a search finds, at once. */
export function foundCauses(...asked: Parameters<typeof searchCauses>): Cause[] {
  const search = searchCauses(...asked);
  while (true) {
    const { done, value } = search.next();
    if (done) return value;
  }
}
