import assert from "node:assert/strict";
import type { z } from "zod";
import { EventsReply } from "../../src/reports/events/events_endpoint.ts";
import { type ReadRouteServices, reportRoutes } from "../../src/server/report_routes.ts";
import { onFreshEngines } from "../support/databases.ts";
import { type DemoProject, startDemoProject } from "./demo_project.ts";
import { assertCounted, assertOneDefinition, assertSums } from "./demo_agreement.ts";
import { assertListed } from "./listed_numbers.ts";
import { SNAPSHOT_READS } from "./snapshot_reads.ts";
import {
  firstDifference,
  kept,
  readSnapshot,
  snapshotNames,
  writeSnapshot,
} from "./snapshot_file.ts";

/** Reads of the present moment. */
const NEVER_THE_SAME = ["/v1/live"];
const UPDATE = Deno.env.get("UPDATE_SNAPSHOTS") === "1";
const HOW_TO_UPDATE =
  "If it is meant: UPDATE_SNAPSHOTS=1 deno test -A --frozen tests/reads/snapshots_test.ts";

/** The routes of the reads, which are only looked at: none of their handlers is called. */
const ROUTES = reportRoutes({} as ReadRouteServices).filter(({ method }) => method === "GET");

/** Asserts that a reply has the shape that the OpenAPI document tells of the read, and no member more. */
function assertDocumented(path: string, reply: unknown): void {
  const isAsked = (of: string) =>
    new URLPattern({ pathname: of }).test({ pathname: `/v1/${path}` });
  const route = ROUTES.find((one) => isAsked(one.path));
  const schema: z.ZodType | undefined = path === "events" ? EventsReply : route?.doc.success.schema;
  assert.ok(schema !== undefined, `${path} has no schema`);
  assert.equal(firstDifference(schema.parse(reply), reply), null, path);
}

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
      const reply = await demo.read(path, query);
      assertDocumented(path, reply);
      await assertSnapshot(name, reply, update);
    });
  }
}

onFreshEngines("snapshots of the demo project", async (t, db) => {
  const demo = await startDemoProject(db.env);
  try {
    await t.step("numbers are those of the events that were sent", () => assertCounted(demo));
    await t.step("parts add up to their wholes", () => assertSums(demo));
    await t.step("one definition in every read", () => assertOneDefinition(demo));
    await t.step("whom a number counts are as many in a list", () => assertListed(demo));
    await assertAllReads(t, demo, UPDATE && db.env.DATABASE_URL === undefined);
  } finally {
    await demo.stop();
  }
});

Deno.test("snapshots: every report has one, and each belongs to a read", () => {
  const asked = SNAPSHOT_READS.map(({ path }) => `/v1/${path}`);
  const missing = ROUTES.map(({ path }) => path).filter((path) => {
    const pattern = new URLPattern({ pathname: path });
    return !asked.some((one) => pattern.test({ pathname: one })) && !NEVER_THE_SAME.includes(path);
  });
  assert.ok(ROUTES.length >= 10);
  assert.deepEqual(missing, []);
  assert.deepEqual(snapshotNames(), SNAPSHOT_READS.map(({ name }) => name).sort());
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
