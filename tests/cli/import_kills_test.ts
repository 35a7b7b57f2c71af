/** Imports that are killed, with their server or without, and go on: each event is stored once. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { makeDataDir } from "../support/embedded_template.ts";
import { copyFolder } from "../support/folder_template.ts";
import { canMount, mountSmallDisk } from "../support/small_disk.ts";
import { ended, footfall, run, serverReady } from "./footfall_process.ts";

const LINES = 24_000;
/** One line in this many is invalid. */
const BAD_EVERY = 499;
const POLL_MS = 10;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const idOf = (i: number) => `00000000-0000-7000-8000-${String(i).padStart(12, "0")}`;
const isBad = (number: number) => number % BAD_EVERY === 0;
const BAD_LINES = Array.from({ length: LINES }, (_, i) => i + 1).filter(isBad);

async function writeLines(path: string): Promise<void> {
  const lines = Array.from({ length: LINES }, (_, i) =>
    isBad(i + 1) ? "{" : JSON.stringify({
      eventId: idOf(i),
      name: "page_view",
      timestamp: Date.parse("2026-05-01T00:00:00Z") + 1_000 * i,
      anonymousId: `a${i % 500}`,
      url: `https://shop.example/p/${i % 90}`,
      server: { browser: "Chrome", os: "Linux", device: "desktop", bot: false, geo: null },
    }));
  await Deno.writeTextFile(path, lines.join("\n"));
}

/** Resolves once a part of the file is durably stored. */
async function begun(file: string): Promise<void> {
  for (;;) {
    try {
      const { number } = JSON.parse(await Deno.readTextFile(`${file}.import.json`));
      if (number > 0) return;
    } catch { /* not yet */ }
    await pause(POLL_MS);
  }
}

async function result(dataDir: string, args: readonly string[]) {
  const { code, out, errors } = await run(dataDir, [...args, "--json"]);
  return { code, errors, ...JSON.parse(out === "" ? "{}" : out) };
}

/** Asserts that all events are stored once, and that each refused line was reported once. */
async function assertWhole(dataDir: string, file: string): Promise<void> {
  const copy = join(dataDir, "copy.ndjson");
  assert.equal(
    (await result(dataDir, ["export", "--output", copy])).events,
    LINES - BAD_LINES.length,
  );
  const ids = (await Deno.readTextFile(copy)).trimEnd().split("\n").map((line) =>
    JSON.parse(line).eventId
  );
  assert.equal(new Set(ids).size, LINES - BAD_LINES.length);
  const beside = join(dirname(file), "rejected.ndjson");
  const refused = (await Deno.readTextFile(beside)).trimEnd().split("\n");
  assert.deepEqual(refused.map((line) => JSON.parse(line).line), BAD_LINES);
  await assert.rejects(Deno.stat(`${file}.import.json`), Deno.errors.NotFound);
}

async function inFolder(work: (dataDir: string, file: string) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir("footfall-kills-");
  const file = join(dataDir, "events.ndjson");
  try {
    await writeLines(file);
    await work(dataDir, file);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("import: killed and run again, it resumes, and stores each event once", () =>
  inFolder(async (dataDir, file) => {
    const killed = footfall(dataDir, ["import", file]);
    const end = ended(killed);
    await begun(file);
    killed.kill("SIGKILL");
    assert.notEqual((await end).code, 0, "it was killed before its end");
    const again = await result(dataDir, ["import", file]);
    assert.equal(again.code, 1, "some lines are refused");
    assert.ok(again.wentOnBehind > 0, "it did not begin anew");
    assert.equal(again.accepted, LINES - BAD_LINES.length);
    assert.equal(again.rejected, BAD_LINES.length);
    await assertWhole(dataDir, file);
    const twice = await result(dataDir, ["import", file]);
    assert.deepEqual([twice.wentOnBehind, twice.accepted, twice.duplicates], [
      null,
      LINES - BAD_LINES.length,
      LINES - BAD_LINES.length,
    ]);
  }));

Deno.test("import: when its server is killed, it says up to which line all is stored, and can be resumed", () =>
  inFolder(async (dataDir, file) => {
    const server = footfall(dataDir, ["serve"]);
    const gone = ended(server);
    await serverReady(dataDir);
    const importing = ended(footfall(dataDir, ["import", file]));
    await begun(file);
    server.kill("SIGKILL");
    await gone;
    const { code, errors } = await importing;
    assert.equal(code, 1);
    assert.match(
      errors,
      /Stopped: [\d,]+ events up to line \d+ stored\. Run the same command again/,
    );
    assert.match(errors, /The server at \S+ does not answer/);
    const again = await result(dataDir, ["import", file]);
    assert.ok(again.wentOnBehind > 0);
    assert.equal(again.accepted, LINES - BAD_LINES.length);
    await assertWhole(dataDir, file);
  }));

Deno.test("import: asked to stop it ends in order; another project begins anew", () =>
  inFolder(async (dataDir, file) => {
    const importing = footfall(dataDir, ["import", file]);
    const end = ended(importing);
    await begun(file);
    importing.kill("SIGINT");
    const { code, errors } = await end;
    assert.equal(code, 130, errors);
    assert.match(errors, /Run the same command again/);
    await result(dataDir, ["project", "create", "--name", "Other", "--id", "prj_other"]);
    const other = await result(dataDir, ["import", file, "--project", "prj_other"]);
    assert.deepEqual([other.wentOnBehind, other.accepted, other.duplicates], [
      null,
      LINES - BAD_LINES.length,
      0,
    ]);
  }));

Deno.test("import --dry-run: reads and checks everything, and stores nothing", () =>
  inFolder(async (dataDir, file) => {
    const checked = await result(dataDir, ["import", file, "--dry-run"]);
    assert.deepEqual(
      [checked.code, checked.isDryRun, checked.accepted, checked.rejected],
      [1, true, LINES - BAD_LINES.length, BAD_LINES.length],
    );
    assert.equal(checked.rejectedFile, join(dataDir, "rejected.ndjson"));
    const { out } = await run(dataDir, ["export"]);
    assert.equal(out, "");
    const table = join(dataDir, "table.csv");
    await Deno.writeTextFile(table, "a,b\n".repeat(2_000));
    for (const flags of [["--dry-run"], []]) {
      const { code, errors } = await run(dataDir, ["import", table, ...flags]);
      assert.equal(code, 1);
      assert.match(
        errors,
        /None of the first [\d,]+ lines of .*table\.csv can be stored\. Line 1:/,
      );
    }
  }));

Deno.test({
  name: "import: a disk that fills is said so; with room again, it goes on where it was",
  ignore: !canMount && Deno.env.get("CI") !== "true",
  fn: () =>
    inFolder(async (made, file) => {
      await using disk = await mountSmallDisk(400);
      const dataDir = join(disk.folder, "data");
      copyFolder(join(made, "database"), join(dataDir, "database"));
      const importing = footfall(dataDir, ["import", file]);
      const end = ended(importing);
      await begun(file);
      // Filling takes seconds on a busy machine: the import could end before.
      importing.kill("SIGSTOP");
      await disk.fill();
      importing.kill("SIGCONT");
      const { code, errors } = await end;
      assert.equal(code, 1, errors);
      assert.match(errors, /Stopped: [\d,]+ events up to line \d+ stored\./);
      assert.match(errors, /The disk of the database is full: nothing can be stored until space/);
      await disk.free();
      const again = await result(dataDir, ["import", file]);
      assert.ok(again.wentOnBehind > 0, JSON.stringify(again));
      assert.equal(again.accepted, LINES - BAD_LINES.length);
      await assertWhole(dataDir, file);
    }),
});
