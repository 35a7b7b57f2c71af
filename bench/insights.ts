/**
 * `deno task bench:insights [--histories 100] [--seed 1] [--most 5] [--each] [--weak]`
 *
 * What insights tell of synthetic histories in whose last week k things happened (a newsletter, a link
 * from elsewhere, a browser that no longer works, …), for k from 0 to `--most`: in how many of them the
 * first k findings are these, one each, and in how many there is no other one. Of none, in how many
 * nothing is told. `--each` prints what is told of those that are not so. `--weak`: how small a change
 * may be and still be found, of one cause alone with more and more visits a day, or fewer.
 */
import { parseArgs } from "node:util";
import { readInsights } from "../tests/reference/insights.ts";
import {
  CAUSES,
  judged,
  PLANTED_RANGE,
  type PlantedCause,
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
    weak: { type: "boolean", default: false },
  },
});
const histories = Number(values.histories);

function printPlanted(): void {
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
      cells.map((cell, i) =>
        (i < 3 ? String(cell) : cell.toFixed(1)).padStart([7, 7, 8, 10, 11][i]!)
      )
        .join(""),
    );
  }
}

/** Visits more a day, or percent of those that stay away, from weak to strong. */
const STRENGTHS = [4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50];
const LOST_PERCENT = [20, 30, 40, 50, 60, 70, 80, 90];
const FOUND_SHARE = 0.9;

/** In how many histories the cause leads. */
function foundOf(cause: PlantedCause): number {
  const seeds = Array.from({ length: histories }, (_, i) => Number(values.seed) + i);
  return seeds.filter((seed) =>
    judged(readInsights(plantedWorld(seed, [cause]), PLANTED_RANGE, []), [cause]).lead
  ).length;
}

/** Of each cause how weak it may be: the first strength that is found in nine of ten histories. */
function printWeak(): void {
  console.log(`${histories} histories of 40 days each, about 150 visits a day, one cause`);
  for (const cause of CAUSES) {
    const isLoss = cause.less > 0;
    const tried: string[] = [];
    for (const strength of isLoss ? LOST_PERCENT : STRENGTHS) {
      const one = isLoss ? { ...cause, less: strength / 100 } : { ...cause, more: strength };
      const found = foundOf(one);
      tried.push(`${isLoss ? `-${strength} %` : `+${strength}`}: ${found}`);
      if (found >= FOUND_SHARE * histories) break;
    }
    console.log(`${cause.name}: ${tried.join(", ")}`);
  }
}

if (values.weak) printWeak();
else printPlanted();
