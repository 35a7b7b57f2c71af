import assert from "node:assert/strict";
import { join } from "node:path";
import { fillUmami, SHOP } from "../importers/umami_database.ts";
import { SHOP as HISTORY, shopExport } from "../importers/shop_exports.ts";
import { id } from "../importers/umami_export.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import {
  findPostgresBinaries,
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";
import { type Control, ended, footfall, run, serverReady } from "./footfall_process.ts";

const ignore = findPostgresBinaries() === null && Deno.env.get("CI") !== "true";
const RANGE = "from=2026-05-01&to=2026-05-03";

let cluster: ThrowawayPostgres;
Deno.test.beforeAll(async () => {
  if (!ignore) cluster = await startPostgres();
});
Deno.test.afterAll(async () => {
  if (!ignore) await cluster.remove();
});

interface World {
  readonly dataDir: string;
  /** The result of a command that must succeed, as `--json` prints it. */
  // deno-lint-ignore no-explicit-any
  readonly result: (...args: string[]) => Promise<any>;
  /** Replies of the reads that are compared. */
  readonly reads: (project: string) => Promise<unknown[]>;
  /** Whether a project has any event, counted already or not. */
  readonly holdsEvents: (project: string) => Promise<boolean>;
}

const READS = [
  "kpis",
  "pages",
  "acquisition?by=country",
  "acquisition?by=browser",
  "trends?event=signup",
];

/** Beside a server on the embedded database. */
async function besideServer(work: (world: World) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir("footfall-import-from-");
  const server = footfall(dataDir, ["serve"]);
  const stopped = ended(server);
  try {
    const control = await serverReady(dataDir);
    await work({
      dataDir,
      async result(...args) {
        const { code, out, errors } = await run(dataDir, [...args, "--json"]);
        assert.equal(code, 0, errors);
        return JSON.parse(out);
      },
      reads: (project) => Promise.all(READS.map((name) => read(control, project, name))),
      async holdsEvents(project) {
        const { body } = await ask(control, `events?limit=1&project=${project}&${RANGE}`);
        return body.events.length > 0;
      },
    });
  } finally {
    server.kill("SIGTERM");
    await stopped;
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function ask({ url, token }: Control, path: string) {
  const reply = await fetch(`${url}/v1/${path}`, { headers: { Authorization: `Bearer ${token}` } });
  // deno-lint-ignore no-explicit-any
  const body: any = await reply.json();
  assert.equal(reply.status, 200, JSON.stringify(body));
  return { body };
}

/** The reply to a read once everything is counted. */
async function read(control: Control, project: string, name: string): Promise<unknown> {
  const query = `${name.includes("?") ? "&" : "?"}project=${project}&${RANGE}`;
  for (;;) {
    const { body } = await ask(control, `${name}${query}`);
    if (body.pending > 0 || body.query.pending > 0) continue;
    // Members that change over time.
    return JSON.parse(
      JSON.stringify(body, (key, value) => ["query", "asOf"].includes(key) ? undefined : value),
    );
  }
}

Deno.test({
  name: "import --from umami: a database after a dry run, twice, with equal reads",
  ignore,
  fn: () =>
    besideServer(async ({ dataDir, result, reads }) => {
      const { url, drop } = await freshDatabase(cluster);
      try {
        const filled = await fillUmami(url, "2026-05-01");
        const events = filled.pageviews + filled.signups;
        await result("project", "create", "--name", "Shop", "--id", "prj_umami");
        const from = ["import", "--from", "umami", url, "--project", "prj_umami"];
        const unsure = await run(dataDir, [...from]);
        assert.equal(unsure.code, 2);
        assert.match(
          unsure.errors,
          /Say which website .*: --website shop\.example \(.*blog\.example/,
        );

        const looked = await result(...from, "--website", "shop.example", "--dry-run");
        assert.deepEqual(
          [looked.dryRun.events, looked.dryRun.known, looked.imported],
          [events, 0, null],
        );
        const nothing = await reads("prj_umami");
        const first = await result(...from, "--website", SHOP);
        const done = { accepted: events, duplicates: 0, rejected: 0, rejectedFile: null };
        assert.deepEqual(first.imported, done);
        const once = await reads("prj_umami");
        assert.notDeepEqual(once, nothing);
        // deno-lint-ignore no-explicit-any
        const [{ totals }] = once as any[];
        assert.deepEqual([totals.visitors, totals.pageviews], [filled.visitors, filled.pageviews]);

        const again = await result(...from, "--website", "Shop");
        assert.equal(again.dryRun.known, events);
        assert.deepEqual(again.imported, { ...done, duplicates: events });
        assert.deepEqual(await reads("prj_umami"), once);
      } finally {
        await drop();
      }
    }),
});

Deno.test("import --from posthog: refused rows are written to a file; other products' files are recognised", () =>
  besideServer(async ({ dataDir, result, reads }) => {
    await result("project", "create", "--name", "Shop", "--id", "prj_posthog");
    const { bytes } = shopExport("posthog");
    const file = join(dataDir, "events.jsonl.gz");
    await Deno.writeFile(file, bytes);
    const bad = join(dataDir, "bad.jsonl");
    const row = { uuid: crypto.randomUUID(), event: "x", distinct_id: "d", properties: {} };
    await Deno.writeTextFile(
      bad,
      `${JSON.stringify({ ...row, timestamp: "2026-05-01 10:00:00" })}\n{"event":\n` +
        `${JSON.stringify({ ...row, timestamp: "02.01.2027 10:00" })}\n`,
    );
    const rejected = join(dataDir, "rejected.ndjson");
    const told = await run(
      dataDir,
      ["import", "--from", "posthog", file, bad, "--project", "prj_posthog"],
    );
    const events = HISTORY.pageviews + HISTORY.signups;
    assert.equal(told.code, 1, told.errors);
    assert.match(
      told.out,
      new RegExp(`^PostHog → prj_posthog\n  ${events + 1} events of 2026-05-01\n`),
    );
    assert.match(told.out, /2 refused: invalid_json 1, invalid_timestamp 1/);
    assert.match(told.out, /bad\.jsonl, line 2: invalid_json/);
    assert.match(told.out, /page_view +36/);
    assert.match(told.out, /distinct_id, \$device_id, \$is_identified +userId, anonymousId/);
    assert.match(
      told.out,
      new RegExp(`\n${events + 1} events imported; 2 refused: see .*rejected`),
    );
    const lines = (await Deno.readTextFile(rejected)).trim().split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(lines.map(({ file, line, code }) => [file, line, code]), [
      [bad, 2, "invalid_json"],
      [bad, 3, "invalid_timestamp"],
    ]);
    // deno-lint-ignore no-explicit-any
    const [{ totals }] = await reads("prj_posthog") as any[];
    assert.deepEqual([totals.visitors, totals.pageviews], [
      HISTORY.visitors + 1,
      HISTORY.pageviews,
    ]);

    const wrong = await run(dataDir, ["import", "--from", "mixpanel", file]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.errors, /events\.jsonl\.gz, line 1: .* say `--from posthog`/);
    await Deno.writeFile(file, bytes.subarray(0, bytes.length - 40));
    const cut = await run(dataDir, ["import", "--from", "posthog", file]);
    assert.equal(cut.code, 1);
    assert.match(cut.errors, /events\.jsonl\.gz: it is cut off or damaged/);
  }));

/** Returns a PostHog file of `count` page views, one per second. */
function pageViews(count: number): string {
  const firstMs = Date.parse("2026-05-01T00:00:00Z");
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      uuid: id(i + 1),
      event: "$pageview",
      distinct_id: `u${i % 100}`,
      timestamp: new Date(firstMs + i * 1000).toISOString(),
      properties: { $current_url: `https://shop.example/page-${i % 10}` },
    })).join("\n");
}

Deno.test("import --from: one that is killed is completed by the next, each event once", () =>
  besideServer(async ({ dataDir, result, reads, holdsEvents }) => {
    const events = 6_000;
    await result("project", "create", "--name", "Shop", "--id", "prj_killed");
    const file = join(dataDir, "events.jsonl");
    await Deno.writeTextFile(file, pageViews(events));
    const args = ["import", "--from", "posthog", file, "--project", "prj_killed"];
    const killed = footfall(dataDir, args);
    const over = ended(killed);
    // deno-lint-ignore no-explicit-any
    const stored = async () => ((await reads("prj_killed")) as any[])[0].totals.pageviews;
    while (!await holdsEvents("prj_killed")) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    try {
      killed.kill("SIGKILL");
    } catch { /* It was quicker. */ }
    await over;
    const { imported } = await result(...args);
    assert.deepEqual([imported.accepted, imported.rejected], [events, 0]);
    assert.ok(imported.duplicates > 0, "some were stored before");
    assert.equal(await stored(), events);
  }));

Deno.test("import --from: a file without any row says what is taken", async () => {
  const dataDir = await makeDataDir("footfall-import-empty-");
  try {
    const file = join(dataDir, "website_event.csv");
    await Deno.writeTextFile(file, "event_id,event_type,url_path,created_at,session_id\n");
    const { code, out, errors } = await run(dataDir, ["import", "--from", "umami", file]);
    assert.equal(code, 1, errors);
    assert.match(out, /There is no row of Umami's in it: Umami takes its export \(a zip/);
    assert.match(out, /There is nothing to import\./);
    await Deno.writeTextFile(file, "garbage");
    const garbage = await run(dataDir, ["import", "--from", "umami", file]);
    assert.equal(garbage.code, 1);
    assert.match(garbage.errors, /its header is none of Umami's/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("import --from: wrong usage, and words that are not files", async () => {
  const dataDir = await makeDataDir("footfall-import-usage-");
  try {
    for (
      const [args, message] of [
        [["--from", "nobody", "x"], /--from must be one of amplitude, /],
        [["--from", "ga4"], /Say what to import: Google Analytics 4 takes/],
        [["--from", "ga4", "-"], /name a file, not -/],
        [["--from", "ga4", "postgres://x"], /Only Umami's database is read, and no file beside it/],
        [["--from", "mixpanel", "--time-zone", "Middle/Earth", "x"], /--time-zone must be an IANA/],
        [["--from", "mixpanel", "--time-zone", "+02:00", "x"], /--time-zone must be an IANA/],
        [["a", "b"], /Name one file/],
      ] as const
    ) {
      const { code, errors } = await run(dataDir, ["import", ...args]);
      assert.equal(code, 2, errors);
      assert.match(errors, message);
    }
    for (
      const [path, message] of [
        [join(dataDir, "none"), /There is no file/],
        [dataDir, /is no file: name the files in it/],
      ] as const
    ) {
      const { code, errors } = await run(dataDir, ["import", "--from", "ga4", path]);
      assert.equal(code, 1, errors);
      assert.match(errors, message);
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
