import assert from "node:assert/strict";
import { z } from "zod";
import { CASES } from "../fixtures/cases.ts";
import { asOfMsOf, assertHolds, type ReadCase, worldOf } from "../fixtures/read_case.ts";
import type { FunnelParams } from "../reference/funnel.ts";
import { onBothEngines } from "../support/databases.ts";
import { type Answer, REPORTS, Store } from "./stored_world.ts";

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
