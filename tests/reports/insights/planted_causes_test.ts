import assert from "node:assert/strict";
import { readInsights } from "../../reference/insights.ts";
import { judged, PLANTED_RANGE, plantedWorld, someCauses } from "./planted_world.ts";

/** More of them: `deno task bench:insights`. */
const HISTORIES = 4;

for (let count = 0; count <= 5; count++) {
  Deno.test(`insights: of ${count} planted causes the first findings are these`, () => {
    let others = 0;
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const causes = someCauses(seed, count);
      const result = readInsights(plantedWorld(seed, causes), PLANTED_RANGE, []);
      const { lead, alone, told } = judged(result, causes);
      const names = causes.map(({ name }) => name).join("; ");
      others += Number(!alone);
      assert.ok(lead, `seed ${seed}: ${names || "nothing"}; told: ${told.join("; ")}`);
    }
    assert.ok(others <= 1, `${others} tell something else, too`);
  });
}
