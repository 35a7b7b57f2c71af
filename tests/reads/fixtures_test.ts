import assert from "node:assert/strict";
import { z } from "zod";
import { ACQUISITION_CASES } from "../fixtures/acquisition_cases.ts";
import { CALENDAR_CASES } from "../fixtures/calendar_cases.ts";
import { FUNNEL_CASES } from "../fixtures/funnel_cases.ts";
import { FUNNEL_ORDER_CASES } from "../fixtures/funnel_order_cases.ts";
import { JOURNEY_CASES } from "../fixtures/journey_cases.ts";
import { MEANING_CASES } from "../fixtures/meaning_cases.ts";
import { PROPERTY_CASES } from "../fixtures/property_cases.ts";
import { asOfMsOf, assertHolds, type ReadCase, worldOf } from "../fixtures/read_case.ts";
import { REPORT_CASES } from "../fixtures/report_cases.ts";
import { RETENTION_CASES } from "../fixtures/retention_cases.ts";
import { SEGMENT_CASES } from "../fixtures/segment_cases.ts";
import { SESSION_CASES } from "../fixtures/session_cases.ts";
import { TECHNICAL_CASES } from "../fixtures/technical_cases.ts";
import { VISIT_CASES } from "../fixtures/visit_cases.ts";
import { VITAL_CASES } from "../fixtures/vital_cases.ts";
import type { FunnelParams } from "../reference/funnel.ts";
import { onBothEngines } from "../support/databases.ts";
import { type Answer, REPORTS, Store } from "./stored_world.ts";

const CASES: readonly ReadCase[] = [
  ...SESSION_CASES,
  ...CALENDAR_CASES,
  ...FUNNEL_CASES,
  ...FUNNEL_ORDER_CASES,
  ...RETENTION_CASES,
  ...ACQUISITION_CASES,
  ...REPORT_CASES,
  ...PROPERTY_CASES,
  ...MEANING_CASES,
  ...JOURNEY_CASES,
  ...TECHNICAL_CASES,
  ...VISIT_CASES,
  ...SEGMENT_CASES,
  ...VITAL_CASES,
];

/** What the reply holds is what its documentation says, member by member. */
function assertDocumented({ read }: ReadCase, answer: Answer): void {
  const { query: _, asOf: __, pending, ...result } = answer;
  assert.equal(pending, 0);
  assert.deepEqual(z.strictObject(REPORTS[read].reply).parse(result), result);
}

onBothEngines("reads: what is checked on paper", async (t, db) => {
  const store = await Store.open(db);
  for (const one of CASES) {
    await t.step(one.name, async () => {
      const project = await store.projectOf(worldOf(one), one.goals);
      const answer = await store.ask(project, asOfMsOf(one), one.read, one.params);
      assertHolds(answer, one.expected);
      assertDocumented(one, answer);
      if (one.read !== "funnels") return;
      const params = one.params as FunnelParams;
      assertHolds(await store.askSaved(project, asOfMsOf(one), params), one.expected);
    });
  }
});
