/**
 * `deno task bench:insights [--histories 100] [--seed 1] [--most 5] [--each]`
 *
 * What insights tell of synthetic histories in whose last week k things happened (a newsletter, a link
 * from elsewhere, a browser that no longer works, …), for k from 0 to `--most`: in how many of them the
 * first k findings are these, one each, and in how many there is no other one. Of none, in how many
 * nothing is told. `--each` prints what is told of those that are not so.
 */
import { parseArgs } from "node:util";
import { readInsights } from "../tests/reference/insights.ts";
import {
  judged,
  PLANTED_RANGE,
  plantedWorld,
  someCauses,
} from "../tests/reports/insights/planted_world.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    histories: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    most: { type: "string", default: "5" },
    each: { type: "boolean", default: false },
  },
});
const histories = Number(values.histories);

console.log(`${histories} histories of 40 days each, about 150 visits a day`);
console.log("planted   lead   alone   changes   findings");
for (let count = 0; count <= Number(values.most); count++) {
  let [lead, alone, changes, findings] = [0, 0, 0, 0];
  for (let i = 0; i < histories; i++) {
    const seed = Number(values.seed) + i;
    const causes = someCauses(seed, count);
    const result = readInsights(plantedWorld(seed, causes), PLANTED_RANGE, []);
    const found = judged(result, causes);
    lead += Number(found.lead);
    alone += Number(found.alone);
    changes += result.changes;
    findings += result.findings.length;
    if (values.each && !found.alone) {
      console.log(`  seed ${seed}: ${causes.map(({ name }) => name).join("; ") || "nothing"}`);
      console.log(`    told: ${found.told.join("; ")}`);
    }
  }
  const cells = [count, lead, alone, changes / histories, findings / histories];
  console.log(
    cells.map((cell, i) => (i < 3 ? String(cell) : cell.toFixed(1)).padStart([7, 7, 8, 10, 11][i]!))
      .join(""),
  );
}
