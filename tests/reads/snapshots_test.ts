import assert from "node:assert/strict";
import { onBothEngines, type TestDatabase } from "../support/databases.ts";
import { type DemoProject, startDemoProject } from "./demo_project.ts";
import { assertCounted, assertOneDefinition, assertSums } from "./demo_agreement.ts";
import { SNAPSHOT_READS } from "./snapshot_reads.ts";
import {
  firstDifference,
  kept,
  readSnapshot,
  snapshotNames,
  writeSnapshot,
} from "./snapshot_file.ts";

/** Reads of the present moment. */
const NEVER_THE_SAME = ["live"];
const UPDATE = Deno.env.get("UPDATE_SNAPSHOTS") === "1";
const HOW_TO_UPDATE =
  "If it is meant: UPDATE_SNAPSHOTS=1 deno test -A --frozen tests/reads/snapshots_test.ts";

/** Compares with the snapshot; the embedded engine, which comes first, may write it anew. */
async function assertSnapshot(name: string, reply: unknown, update: boolean): Promise<void> {
  const found = kept(reply);
  if (update) await writeSnapshot(name, found);
  const difference = firstDifference(found, await readSnapshot(name));
  assert.equal(difference, null, `snapshots/${name}.json: ${difference}\n${HOW_TO_UPDATE}`);
}

async function assertAllReads(t: Deno.TestContext, demo: DemoProject, update: boolean) {
  for (const { name, path, query } of SNAPSHOT_READS) {
    await t.step(`${path}: ${name}`, async () => {
      await assertSnapshot(name, await demo.read(path, query), update);
    });
  }
}

onBothEngines("snapshots of the demo project", async (t, db: TestDatabase) => {
  const demo = await startDemoProject(db.env);
  try {
    await t.step("numbers are those of the events that were sent", () => assertCounted(demo));
    await t.step("parts add up to their wholes", () => assertSums(demo));
    await t.step("one definition in every read", () => assertOneDefinition(demo));
    await assertAllReads(t, demo, UPDATE && db.env.DATABASE_URL === undefined);
    await t.step("every read has a snapshot, and every snapshot a read", async () => {
      const asked = new Set(
        SNAPSHOT_READS.map(({ path }) => path.replace(/^funnels\/.*/, "funnels/{slug}")),
      );
      const missing = (await demo.readPaths()).filter((path) =>
        !asked.has(path) && !NEVER_THE_SAME.includes(path)
      );
      assert.deepEqual(missing, []);
      assert.deepEqual(snapshotNames(), SNAPSHOT_READS.map(({ name }) => name).sort());
    });
  } finally {
    await demo.stop();
  }
});

Deno.test("firstDifference: names the place, whichever side lacks it", () => {
  const kept = { rows: [{ visitors: 1, path: null }, { visitors: 2 }] };
  assert.equal(firstDifference(structuredClone(kept), kept), null);
  const cases: [unknown, string][] = [
    [{ rows: [{ visitors: 1, path: null }, { visitors: 3 }] }, "$.rows[1].visitors: 3, kept: 2"],
    [{ rows: [{ visitors: 1, path: null }] }, '$.rows[1]: missing, kept: {"visitors":2}'],
    [{ rows: [{ visitors: 1, path: "/" }, { visitors: 2 }] }, '$.rows[0].path: "/", kept: null'],
    [{ ...kept, total: 0 }, "$.total: 0, kept: missing"],
    [{ rows: {} }, "$.rows: one is a list, the other is not"],
    [null, `$: null, kept: ${JSON.stringify(kept)}`],
  ];
  for (const [found, difference] of cases) assert.equal(firstDifference(found, kept), difference);
});
