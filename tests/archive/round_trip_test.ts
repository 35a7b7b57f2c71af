import assert from "node:assert/strict";
import type { Json, TestApp } from "../support/app.ts";
import { onFreshEngines, onPostgres } from "../support/databases.ts";
import { demoProjectOf, fillDemoProject } from "../reads/demo_project.ts";
import { firstDifference, kept } from "../reads/snapshot_file.ts";
import { SNAPSHOT_READS } from "../reads/snapshot_reads.ts";
import { cli, done, type Env, withApp, withEmbedded, withFile } from "./archive_world.ts";

/** Every read that is answered from events, and the events themselves. */
async function answers(app: TestApp, project?: string): Promise<Map<string, unknown>> {
  const demo = demoProjectOf(app, project);
  const replies = new Map<string, unknown>();
  for (const { name, path, query } of SNAPSHOT_READS) {
    const reply = kept(await demo.read(path, query)) as Json;
    replies.set(name, JSON.parse(JSON.stringify(reply).replaceAll(project ?? "prj_demo", "prj")));
  }
  const events = await app.read(project ?? "prj_demo", { bots: "include", from: "2026-01-01" }, {
    Accept: "application/x-ndjson",
  });
  assert.equal(events.status, 200);
  replies.set("export", events.body.split("\n"));
  return replies;
}

function assertSameAnswers(found: Map<string, unknown>, expected: Map<string, unknown>): void {
  for (const [name, reply] of expected) {
    assert.equal(firstDifference(found.get(name), reply), null, name);
  }
}

async function assertRestored(env: Env, file: string, expected: Map<string, unknown>) {
  const dry = await done(env, "restore", file, "--dry-run");
  assert.deepEqual(
    dry.projects.map(({ as, found }: Json) => [as, found]),
    [["prj_default", "empty"], ["prj_demo", "nothing"]],
  );
  const first = await done(env, "restore", file);
  assert.deepEqual(
    first.compared.map(({ project, verdict }: Json) => [project, verdict]),
    [["prj_default", "same"], ["prj_demo", "same"]],
  );
  assert.equal(first.events.known, 0);
  assert.equal(first.events.stored, dry.events);
  await withApp(env, async (app) => assertSameAnswers(await answers(app), expected));

  const again = await done(env, "restore", file);
  assert.deepEqual(again.events, { stored: 0, known: dry.events });
  assert.equal(again.rows.added, 0);
  assert.deepEqual(again.rows.left, []);
}

onFreshEngines(
  "archive and restore: every read answers the same, on either engine",
  async (t, db) => {
    await withFile((file) =>
      withEmbedded(async (embedded) => {
        const expected = await withApp(db.env, async (app) => {
          await fillDemoProject(app);
          return await answers(app);
        });
        const made = await done(db.env, "archive", file);
        assert.deepEqual(made.projects, ["prj_default", "prj_demo"]);
        assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);

        await t.step(
          "into an empty embedded database",
          () => assertRestored(embedded, file, expected),
        );
        await t.step("as another project beside it", async () => {
          await done(db.env, "archive", file, "--project", "prj_demo");
          const beside = await done(db.env, "restore", file, "--project", "prj_twin");
          assert.deepEqual(beside.compared.map(({ verdict }: Json) => verdict), ["same"]);
          // A key belongs to one project: those of the first stay its own.
          assert.ok(beside.rows.left.length > 0);
          assert.ok(beside.rows.left.every(({ table }: Json) => table === "api_keys"));
          await withApp(
            db.env,
            async (app) => assertSameAnswers(await answers(app, "prj_twin"), expected),
          );
        });
        await t.step("a project with events is not touched", async () => {
          await done(embedded, "archive", file, "--project", "prj_demo");
          const { code, result } = await cli(db.env, "restore", file);
          assert.equal(code, 1);
          assert.equal(result.error.code, "conflict");
          assert.match(result.error.detail, /prj_demo/);
          const wrong = await cli(db.env, "restore", file, "--project", "prj/demo");
          assert.equal(wrong.code, 2);
          assert.match(wrong.result.error.detail, /^--project: Use letters, digits, _ and -/);
        });
      })
    );
  },
);

// From the embedded engine into the embedded engine is the first step above.
onPostgres("restore: from the embedded engine, as the backup of a server", async (_t, db) => {
  await withFile((file) =>
    withEmbedded(async (embedded) => {
      const expected = await withApp(embedded, async (app) => {
        await fillDemoProject(app);
        return await answers(app);
      });
      await done(embedded, "archive", file);
      await assertRestored(db.env, file, expected);
    })
  );
});
