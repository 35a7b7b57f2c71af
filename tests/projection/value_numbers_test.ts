import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { reclassifyTraffic } from "../../src/projection/dictionaries.ts";
import { DICTIONARY_ROWS_AT_ONCE } from "../../src/projection/projection_limits.ts";
import { ValueNumbers } from "../../src/projection/value_numbers.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";

/** More than two statements read. */
const ROWS = 2 * DICTIONARY_ROWS_AT_ONCE + 5;

/**
 * Adds rows to the dictionaries: traffic of few sources and as many contents as rows, some of them long,
 * and contexts of few countries, every third of which is a bot's.
 */
async function fill(database: Database, from: number, to: number): Promise<void> {
  const params = [from, to];
  await database.query(
    `INSERT INTO traffic (project_id, traffic_id, digest, utm_source, utm_content, referrer_host, source,
      content, channel, rule)
    SELECT 1, i, gen_random_uuid(), 'source ' || i % 7, repeat('long ', i % 9) || i, 'shop.test',
      'source ' || i % 7, nullif(repeat('long ', i % 9) || i, '8'), 'Referral', 'rule ' || i % 5
    FROM generate_series($1::int, $2::int) AS i`,
    params,
  );
  await database.query(
    `INSERT INTO contexts (project_id, context_id, digest, country, city)
    SELECT 1, CASE i % 3 WHEN 0 THEN -i ELSE i END, gen_random_uuid(), 'country ' || i % 11, i / 2
    FROM generate_series($1::int, $2::int) AS i`,
    params,
  );
}

/** The least of the numbers up to `n`, from 1 on, that is the same by `by`, with the sign that contexts have. */
const firstLike = (n: number, modulus: number): number => (n - 1) % modulus + 1;
const contextOf = (n: number): number => n % 3 === 0 ? -n : n;

function check(values: ValueNumbers, n: number): void {
  const [all, channel, source, , , , content, , path, country, , city] = values
    .numbersOf(n, contextOf(n), 4);
  assert.deepEqual([all, path], [0, 4]);
  assert.equal(channel, 1);
  assert.equal(source, firstLike(n, 7), `source of ${n}`);
  assert.equal(content, n, `content of ${n}`);
  assert.equal(country, contextOf(firstLike(n, 11)), `country of ${n}`);
  assert.equal(city, contextOf(Math.max(1, n - n % 2)), `city of ${n}`);
  assert.equal(values.ruleOf(n), firstLike(n, 5), `rule of ${n}`);
}

onBothEngines(
  "value numbers: a value has that of its first row, however many there are",
  async (t, db) => {
    const database = await openWithProjects(db);
    await fill(database, 1, ROWS);
    const values = new ValueNumbers();
    await values.open(database, 1);
    const places = [1, 2, 7, 8, 9, DICTIONARY_ROWS_AT_ONCE, DICTIONARY_ROWS_AT_ONCE + 1, ROWS];
    for (const n of places) check(values, n);
    await t.step("nor when they were added", async () => {
      await fill(database, ROWS + 1, ROWS + 100);
      assert.throws(() => values.numbersOf(ROWS + 1, 1, 0), /missing dictionary row/);
      await values.readOn(database, 1, [{ traffic: ROWS + 50, context: contextOf(ROWS + 50) }]);
      check(values, ROWS + 50);
      await values.readOn(database, 1, [{ traffic: ROWS + 100, context: contextOf(ROWS + 100) }]);
      for (const n of [...places, ROWS + 1, ROWS + 100]) check(values, n);
    });
    await t.step("all of them are classified anew, and looked at again", async () => {
      await reclassifyTraffic(database, 1, "shop.test");
      const left = await database.query(
        "SELECT FROM traffic WHERE project_id = 1 AND (referrer IS NOT NULL OR channel = 'Referral')",
      );
      assert.equal(left.length, 0);
      await values.open(database, 1);
      assert.equal(values.ruleOf(ROWS), 1);
    });
  },
);
