import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { openEmbedded } from "../../src/db/embedded.ts";
import { DatabaseUnavailable } from "../../src/db/sql.ts";
import { Writer } from "../../src/ingest/writer.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { newRow, openWithProjects, storedRows } from "../support/event_rows.ts";

const ENDLESS =
  "SELECT count(*) AS n FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";
/** The one thing that the engine does without looking up: it waits for a signal. */
const DEAF = "SELECT pg_sleep(120)";
/** Until the engine is started again, on a busy machine too; far less than such a statement takes. */
const HELD_MS_MAX = 60_000;
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));

async function inFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir("footfall-held-");
  try {
    await work(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("a statement that would run for hours holds ingestion for its limit only; nothing is lost, nothing twice", () =>
  inFolder(async (dataDir) => {
    const open = () => openEmbedded(dataDir, { statementTimeoutMs: 400 });
    const database = await openWithProjects({ open, url: null });
    const acknowledged = new Set<string>();
    try {
      const writer = new Writer(database, { flushesAtOnce: 1, observe: () => {} });
      let unavailable = 0;
      let isOver = false;
      const ingest = async () => {
        while (!isOver) {
          const rows = [newRow(), newRow()];
          for (;;) {
            try {
              await writer.write(rows, 100);
              break;
            } catch (error) {
              assert.ok(error instanceof DatabaseUnavailable, String(error));
              unavailable++;
            }
          }
          for (const row of rows) acknowledged.add(row.event_id);
        }
      };
      const load = Promise.all([ingest(), ingest(), ingest()]);
      let longestMs = 0;
      for (const statement of [ENDLESS, DEAF, ENDLESS, DEAF]) {
        const from = performance.now();
        await assert.rejects(database.transaction((tx) => tx.query(statement)));
        const before = acknowledged.size;
        while (acknowledged.size === before) await new Promise((go) => setTimeout(go, 5));
        longestMs = Math.max(longestMs, performance.now() - from);
      }
      isOver = true;
      await load;
      assert.ok(longestMs < HELD_MS_MAX, `${longestMs} ms until the next event was stored`);
      assert.ok(unavailable > 0 || acknowledged.size > 8);
    } finally {
      await database.close();
    }
    // Opened anew without that limit, which reading everything may take longer than.
    const reopened = await openEmbedded(dataDir);
    try {
      const ids = (await storedRows(reopened)).map((row) => row.event_id);
      assert.deepEqual([ids.length, new Set(ids).size], [acknowledged.size, acknowledged.size]);
    } finally {
      await reopened.close();
    }
  }));

const PROGRAM = `
  import { openEmbedded } from ${JSON.stringify(import.meta.resolve("../../src/db/embedded.ts"))};
  const sql = await openEmbedded(Deno.args[0], { statementTimeoutMs: 2_000 });
  const say = (line) => Deno.stdout.writeSync(new TextEncoder().encode(line + "\\n"));
  await sql.script("CREATE TABLE IF NOT EXISTS kept (n int)");
  const [{ n: first }] = await sql.query("SELECT coalesce(max(n) + 1, 0) AS n FROM kept");
  for (let n = first;; n++) {
    if ((n - first) % 20 === 19) sql.query(${JSON.stringify(DEAF)}).catch(() => say("again"));
    await sql.query("INSERT INTO kept VALUES ($1)", [n]);
    say(String(n));
  }
`;

Deno.test("a process killed while it starts its engine again loses nothing acknowledged", () =>
  inFolder(async (dataDir) => {
    const path = `${dataDir}/program.js`;
    await Deno.writeTextFile(path, PROGRAM);
    let last = -1;
    for (const afterMs of [0, 60, 250]) {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-lock", "--config", CONFIG, path, dataDir],
        stdin: "null",
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      let text = "";
      for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
        if (!text.includes("again") && (text + piece).includes("again")) {
          setTimeout(() => child.kill("SIGKILL"), afterMs);
        }
        text += piece;
      }
      await child.status;
      const numbers = text.split("\n").slice(0, -1).filter((line) => line !== "again").map(Number);
      assert.ok(numbers.length > 0);
      assert.ok(numbers[0]! > last, "what was acknowledged before is there");
      last = numbers.at(-1)!;
    }
    const sql = await openEmbedded(dataDir);
    try {
      const [row] = await sql.query<{ rows: number; ids: number }>(
        "SELECT count(*) AS rows, count(DISTINCT n) AS ids FROM kept WHERE n <= $1",
        [last],
      );
      assert.deepEqual(row, { rows: last + 1, ids: last + 1 });
    } finally {
      await sql.close();
    }
  }));
