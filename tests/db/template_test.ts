import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { templateUrl, unpackCluster } from "../../src/db/cluster_template.ts";
import { type EmbeddedDatabase, openEmbedded } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { makeBareDataDir } from "../support/embedded_template.ts";

const TEMPLATE = fileURLToPath(templateUrl(MIGRATIONS));

/** Everything that a migration can leave behind, as text. */
const CATALOG = [
  `SELECT c.relname, c.relkind, c.relpersistence, c.reloptions::text, a.attname,
    format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, a.attcompression,
    a.attidentity, a.attgenerated, a.attstattarget, a.attoptions::text,
    pg_get_expr(d.adbin, d.adrelid) AS initial
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace ORDER BY c.relname, a.attnum`,
  "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
  `SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`,
  `SELECT pg_get_functiondef(oid) FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' ORDER BY 1`,
  "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2",
  `SELECT typname, enumlabel FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
  ORDER BY typname, enumsortorder`,
  `SELECT schemaname, sequencename, data_type, start_value, increment_by, last_value
  FROM pg_sequences ORDER BY 1, 2`,
  "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1",
  "SELECT stxname, pg_get_statisticsobjdef(oid) FROM pg_statistic_ext ORDER BY 1",
  "SELECT extname, extversion FROM pg_extension ORDER BY 1",
  "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1",
  "SELECT setconfig::text FROM pg_db_role_setting ORDER BY 1",
  "SELECT version, name, checksum FROM schema_migrations ORDER BY 1",
  "SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate",
];

async function catalogOf(database: EmbeddedDatabase) {
  const answers: Record<string, unknown> = {};
  for (const query of CATALOG) answers[query] = await database.query(query);
  const tables = await database.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace " +
      "AND relkind IN ('r', 'p') ORDER BY 1",
  );
  for (const { name } of tables) {
    answers[`rows of ${name}`] = await database.query(`SELECT count(*)::int FROM "${name}"`);
  }
  return answers;
}

Deno.test("template: a database made from it equals one made by the migrations", async () => {
  assert.ok(existsSync(TEMPLATE), "`deno task bundles` makes it");
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-template-" });
  const migratedDir = await makeBareDataDir("footfall-migrated-");
  const database = await openEmbedded(dataDir, { template: TEMPLATE });
  const migrated = await openEmbedded(migratedDir);
  try {
    assert.equal((await migrate(migrated, MIGRATIONS)).applied.length, MIGRATIONS.length);
    const catalog = await catalogOf(database);
    assert.ok((catalog[CATALOG[0]!] as unknown[]).length > 50, "there are columns");
    assert.deepEqual(catalog, await catalogOf(migrated));

    const version = MIGRATIONS.at(-1)!.version + 1;
    const sql = "CREATE TABLE later (id int PRIMARY KEY); INSERT INTO later VALUES (7)";
    const later = [...MIGRATIONS, { version, name: "later", sql }];
    assert.deepEqual(
      await migrate(database, later),
      { applied: ["later"] },
      "only what is missing",
    );
    await database.close();
    const again = await openEmbedded(dataDir, { template: TEMPLATE });
    assert.deepEqual(await again.query("SELECT id FROM later"), [{ id: 7 }], "it stays");
    await again.close();
  } finally {
    await database.close();
    await migrated.close();
    await Deno.remove(dataDir, { recursive: true });
    await Deno.remove(migratedDir, { recursive: true });
  }
});

Deno.test("template: one of other migrations is never found, a damaged one never used", async () => {
  const changed = MIGRATIONS.map((migration) => ({ ...migration, sql: `${migration.sql} ` }));
  const others = [MIGRATIONS.slice(1), MIGRATIONS.slice(0, -1), changed];
  const addresses = [MIGRATIONS, ...others].map((list) => templateUrl(list).href);
  assert.equal(new Set(addresses).size, addresses.length);

  const folder = await Deno.makeTempDir({ prefix: "footfall-template-" });
  try {
    const whole = await Deno.readFile(TEMPLATE);
    const flipped = whole.slice();
    flipped[whole.length >> 1]! ^= 1;
    const damaged = { flipped, cut: whole.subarray(0, whole.length >> 1), empty: new Uint8Array() };
    for (const [name, bytes] of Object.entries(damaged)) {
      const path = join(folder, name);
      await Deno.writeFile(path, bytes);
      assert.equal(unpackCluster(path, join(folder, "database")), false, name);
    }
    assert.equal(unpackCluster(join(folder, "none"), join(folder, "database")), false);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), [
      "cut",
      "empty",
      "flipped",
    ], "nothing is written of it");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
