import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { Database } from "../../src/db/sql.ts";
import { createSalts } from "../../src/ingest/salts.ts";
import { onFreshEngines, onPostgres, type TestPlace } from "../support/databases.ts";

const DAY_MS = 86_400_000;
const NOON_MS = Date.parse("2026-11-21T12:00:00Z");
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The folder in which this database's files lie. */
async function folderOf(database: Database, db: TestPlace): Promise<string> {
  const [row] = await database.query<{ folder: string; place: string }>(
    "SELECT current_setting('data_directory') AS folder, pg_relation_filepath('daily_salts') AS place",
  );
  const place = row!.place.replace(/\/[^/]*$/, "");
  if (database.engine === "postgres") return join(row!.folder, place);
  for await (const folder of foldersIn(db.env.DATA_DIR!)) {
    if (folder.endsWith(`/${place}`)) return folder;
  }
  throw new Error(`no folder ${place}`);
}

async function* foldersIn(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    if (!entry.isDirectory) continue;
    yield join(folder, entry.name);
    yield* foldersIn(join(folder, entry.name));
  }
}

/** The files below `folder` that hold these bytes, once everything is on disk. */
async function holders(database: Database, folder: string, bytes: Uint8Array): Promise<string[]> {
  await database.query("CHECKPOINT");
  const found: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    const held = entry.isFile ? await Deno.readFile(path).catch(() => new Uint8Array()) : null;
    if (held !== null && Buffer.from(held).includes(Buffer.from(bytes))) found.push(entry.name);
  }
  return found;
}

onFreshEngines("salts: nothing of a deleted one is left in the table's files", async (_, db) => {
  const database = await db.open();
  const folder = await folderOf(database, db);
  let nowMs = NOON_MS;
  const salts = createSalts(database, () => nowMs, random);
  const kept: Uint8Array[] = [];
  for (let day = 0; day < 4; day++, nowMs += DAY_MS) {
    assert.equal(await salts.rotate(), true);
    const salt = await salts.saltFor(dayOf(nowMs));
    const held = await holders(database, folder, salt);
    assert.equal(held.length, 1, "a salt in use stands in one file");
    kept.push(salt);
    for (const [age, older] of kept.toReversed().entries()) {
      const places = await holders(database, folder, older);
      assert.equal(places.length, age < 2 ? 1 : 0, `${age} days old: ${places}`);
    }
  }
});

onFreshEngines(
  "salts: what an earlier version left in the file goes at the start",
  async (_, db) => {
    const database = await db.open();
    const folder = await folderOf(database, db);
    const old = random(32);
    await database.query(
      "INSERT INTO daily_salts (day, salt) VALUES ('2026-11-01', decode($1::text, 'hex'))",
      [old.toHex()],
    );
    await database.query("DELETE FROM daily_salts");
    assert.equal((await holders(database, folder, old)).length, 1, "deleted, and still there");
    await createSalts(database, () => NOON_MS, random).rotate();
    assert.deepEqual(await holders(database, folder, old), []);
  },
);

onFreshEngines("salts: who asks while the file is replaced gets the same ones", async (_, db) => {
  const database = await db.open();
  const server = () => createSalts(database, () => NOON_MS, random);
  const days = [dayOf(NOON_MS), dayOf(NOON_MS - DAY_MS)];
  const first = await Promise.all(days.map((day) => server().saltFor(day)));
  const asked: Promise<Uint8Array[]>[] = [];
  const rotated: Promise<boolean>[] = [];
  for (let round = 0; round < 25; round++) {
    rotated.push(server().rotate());
    for (let each = 0; each < 4; each++) {
      const one = server();
      asked.push(Promise.all(days.map((day) => one.saltFor(day))));
    }
  }
  for (const salts of await Promise.all(asked)) assert.deepEqual(salts, first);
  await Promise.all(rotated);
});

// The embedded engine has one session: nobody reads beside it.
onPostgres("salts: a table that is being read is not waited for", async (_, db) => {
  const database = await db.open();
  await database.query("INSERT INTO daily_salts (day, salt) VALUES ('2026-11-01', '\\x00')");
  const salts = createSalts(database, () => NOON_MS, random);
  await database.transaction(async (backup) => {
    await backup.query("SELECT FROM daily_salts");
    assert.equal(await salts.rotate(), false);
  });
  const rows = await database.query("SELECT day FROM daily_salts");
  assert.deepEqual(rows, [{ day: "2026-11-21" }], "deleted all the same");
  assert.equal(await salts.rotate(), true);
});
