import assert from "node:assert/strict";
import { join } from "node:path";
import { zipOf } from "../importers/zip_writer.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { HeldRequest } from "../support/held_request.ts";
import { until } from "../support/server_process.ts";
import { ended, footfall, run, serverReady } from "./footfall_process.ts";

/** Long enough for any slow machine. */
const WAIT_MS_MAX = 120_000;

const text = (lines: readonly string[]) => new TextEncoder().encode(`${lines.join("\r\n")}\r\n`);

/** Plausible's zip of two tables. */
function exportOf(visitors: number, badRow = false, span = "20240301_20240303"): Uint8Array {
  return zipOf([
    {
      name: `imported_visitors_${span}.csv`,
      bytes: text([
        "date,visitors,pageviews,bounces,visits,visit_duration",
        `2024-03-01,${visitors},30,6,12,600`,
        "2024-03-03,2,2,2,2,0",
      ]),
      method: 0,
    },
    {
      name: `imported_pages_${span}.csv`,
      bytes: text([
        "date,hostname,page,visits,visitors,pageviews",
        "2024-03-01,shop.test,/,9,8,20",
        ...badRow ? ["2024-03-99,shop.test,/,9,8,20"] : [],
      ]),
    },
  ]);
}

/** GoatCounter's zip of sums, which its content distinguishes from a zip of page views. */
const GOATCOUNTER = zipOf([
  { name: "info.json", bytes: text(['{"export_version": "1.0"}']) },
  { name: "paths.jsonl", bytes: text(['{"id": 1, "event": false, "path": "/", "title": ""}']) },
  {
    name: "hit_stats.jsonl",
    bytes: text(['{"hour": "2024-03-01T10:00:00Z", "path_id": 1, "ref_id": 1, "count": 4}']),
  },
]);

async function besideServer(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir("footfall-sums-");
  try {
    const server = footfall(dataDir, ["serve"]);
    const stopped = ended(server);
    try {
      await serverReady(dataDir);
      await work(dataDir);
    } finally {
      server.kill("SIGTERM");
      await stopped;
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("import --from plausible: a dry run, the import, again, a newer export, and its removal", async () => {
  await besideServer(async (dataDir) => {
    const path = join(dataDir, "shop.zip");
    await Deno.writeFile(path, exportOf(10));
    const base = ["import", "--from", "plausible"];
    const told = async (args: readonly string[], code = 0) => {
      const done = await run(dataDir, [...base, ...args, "--json"]);
      assert.equal(done.code, code, `${done.out}${done.errors}`);
      return JSON.parse(done.out);
    };
    const counts = (added: number, replaced: number, unchanged: number) => ({
      ...{ added, replaced, unchanged },
    });
    const dry = await told([path, "--dry-run"]);
    assert.equal(dry.imported, null);
    assert.deepEqual(dry.dryRun.days, { first: "2024-03-01", last: "2024-03-03" });
    assert.deepEqual([dry.dryRun.added, dry.dryRun.firstOwnDay, dry.dryRun.refused], [6, null, 0]);
    const clean = { rejectedFile: null };
    assert.deepEqual((await told([path])).imported, { ...counts(6, 0, 0), ...clean });
    assert.deepEqual((await told([path])).imported, { ...counts(0, 0, 6), ...clean });
    await Deno.writeFile(path, exportOf(11, true));
    const rejected = join(dataDir, "refused.ndjson");
    const newer = await told([path, "--rejected", rejected], 1);
    assert.deepEqual(newer.imported, { ...counts(0, 1, 5), rejectedFile: rejected });
    const refusal = JSON.parse(await Deno.readTextFile(rejected));
    assert.deepEqual([refusal.line, refusal.code], [3, "invalid_date"]);
    assert.equal(JSON.parse(refusal.text).date, "2024-03-99");
    assert.deepEqual(
      newer.dryRun.refusals.map(({ line, code }: Record<string, unknown>) => [line, code]),
      [
        [3, "invalid_date"],
      ],
    );
    const beside = await told([path], 1);
    assert.equal(beside.imported.rejectedFile, join(dataDir, "rejected.ndjson"));
    await Deno.writeFile(path, exportOf(12));
    const replacing = await run(dataDir, [...base, path, "--yes"]);
    assert.match(
      replacing.out,
      /0 new, 1 replaces what was imported before, 5 are there already/,
    );
    assert.match(replacing.out, /0 sums of days added, 1 replaced, 5 as they were/);
    await Deno.writeFile(path, exportOf(11, true));
    const people = await run(dataDir, [...base, path, "--dry-run"]);
    for (
      const words of [
        /Plausible → prj_default/,
        /3 days from 2024-03-01 to 2024-03-03, taken as the project's local days/,
        /All of them are shown/,
        /0 new, 1 replaces what was imported before, 5 are there already/,
        /1 row refused/,
        /imported_sources .* by Footfall's own rules/,
        /2024-03-01 +11 +12 +30/,
        /Nothing was sent\./,
      ]
    ) assert.match(people.out, words);
    await Deno.writeFile(path, GOATCOUNTER);
    const goats = await run(dataDir, ["import", "--from", "goatcounter", path, "--json"]);
    assert.equal(goats.code, 0, goats.errors);
    assert.deepEqual(JSON.parse(goats.out).imported, { ...counts(2, 0, 0), ...clean });
    const events = join(dataDir, "events.csv");
    await Deno.writeFile(events, text(["Timestamp,Event Name,Completions", "2024-03-01,Signup,2"]));
    const alone = await run(dataDir, ["import", "--from", "fathom", events]);
    assert.equal(alone.code, 1);
    assert.match(
      alone.out,
      /1 day of custom events left out: no file .*There is nothing to import/s,
    );
    assert.deepEqual((await told(["--remove"])).removed, { days: 3 });
    assert.deepEqual((await told(["--remove"])).removed, { days: 0 });
    const wrong = await run(dataDir, [...base, join(dataDir, "absent.zip")]);
    assert.deepEqual([wrong.code, /There is no file/.test(wrong.errors)], [1, true]);
    await Deno.writeFile(path, exportOf(10).subarray(0, 200));
    const cut = await run(dataDir, [...base, path]);
    assert.equal(cut.code, 1);
    assert.match(cut.errors, /cut off or damaged/);
  });
});

Deno.test("import --from plausible: killed between two requests, the same command completes it", async () => {
  await besideServer(async (dataDir) => {
    const path = join(dataDir, "shop.zip");
    // 1,158 days, and 1,156 of the pages: more than one request takes.
    await Deno.writeFile(path, exportOf(10, false, "20210101_20240301"));
    const importing = ["import", "--from", "plausible", path, "--json"];
    const request = "POST /v1/projects/prj_default/imported-history/plausible";
    {
      // The dry run has compared with two requests, and the import has sent the first of its own.
      await using held = await HeldRequest.at({ request, when: "before", nth: 4 });
      const killed = footfall(dataDir, importing, "null", held.preload);
      const outcome = ended(killed);
      await until(WAIT_MS_MAX, () => held.reached(), "the first request is stored");
      killed.kill("SIGKILL");
      await outcome;
    }
    const { code, out, errors } = await run(dataDir, importing);
    assert.equal(code, 0, errors + out);
    const { added, replaced, unchanged } = JSON.parse(out).imported;
    assert.deepEqual([added, replaced, unchanged], [314, 0, 2_000]);
  });
});
