import assert from "node:assert/strict";
import fc from "fast-check";
import { arrayLiteral, type Param, type Sql, StatementRefused } from "../../src/db/sql.ts";
import { borrowDatabase } from "../../src/db/borrowed_database.ts";
import { LentDatabase } from "../../src/db/lent_database.ts";
import { onBothEngines, type TestDatabase } from "../support/databases.ts";

const VALUES: readonly [expression: string, params: Param[], expected: unknown][] = [
  ["$1::int2", [-32768], -32768],
  ["$1::int4", [2147483647], 2147483647],
  ["$1::int8", [9007199254740991], 9007199254740991],
  ["$1::int8", ["-9007199254740991"], -9007199254740991],
  ["$1::float8", [0.1], 0.1],
  ["$1::float8", [5e-324], 5e-324],
  ["$1::float8", [-1.7976931348623157e308], -1.7976931348623157e308],
  ["$1::float8", [Infinity], Infinity],
  ["$1::float8", [NaN], NaN],
  ["$1::numeric", ["12.50"], 12.5],
  ["sum(x) FROM unnest($1::text::int8[]) AS x", ["{1,2}"], 3],
  ["count(*) FROM unnest($1::text::int4[]) AS x", ["{}"], 0],
  ["$1::bool", [true], true],
  ["$1::bool", [false], false],
  ["$1::text", [true], "true"],
  ["$1::text", [12], "12"],
  ["$1::text", [""], ""],
  ["$1::text", ["'; DROP TABLE x; -- \\ \" {}"], "'; DROP TABLE x; -- \\ \" {}"],
  ["$1::text", ["Zażółć 🦶 \u0001\u202e\n"], "Zażółć 🦶 \u0001\u202e\n"],
  ['$1::text::"char"', ["x"], "x"],
  ["$1::uuid", ["00000000-0000-7000-8000-00000000ABCD"], "00000000-0000-7000-8000-00000000abcd"],
  ["$1::inet", ["203.0.113.9"], "203.0.113.9"],
  ["$1::inet", ["2001:db8::1"], "2001:db8::1"],
  ["$1::date", ["2026-02-28"], "2026-02-28"],
  ["$1::date", ["0001-01-01"], "0001-01-01"],
  ["$1::timestamptz", ["2026-11-21T04:00:00.123Z"], new Date("2026-11-21T04:00:00.123Z")],
  ["$1::timestamptz", ["2026-11-21T04:00:00+05:30"], new Date("2026-11-20T22:30:00Z")],
  ["$1::timestamptz", ["1969-12-31T23:59:59.999Z"], new Date(-1)],
  ["$1::timestamptz", ["0001-01-01T00:00:00Z"], new Date("0001-01-01T00:00:00Z")],
  ["$1::timestamptz", ["0044-03-15 12:00:00+00 BC"], new Date("-000043-03-15T12:00:00Z")],
  ["$1::timestamptz", ["12026-11-21 04:00:00+00"], new Date("+012026-11-21T04:00:00Z")],
  ["$1::bytea", ["\\x00ff10"], Uint8Array.of(0, 255, 16)],
  ["$1::bytea", ["\\x"], new Uint8Array()],
  ["$1::text::jsonb", ['{"a":[1,null,"\\u00fc{}\\""]}'], { a: [1, null, 'ü{}"'] }],
  ["$1::jsonb", ['"text"'], "text"],
  ["$1::text::json", ["null"], null],
  ["$1::text::text[]", ["{}"], []],
  ["$1::text::int8[]", ["{1,NULL,-3}"], [1, null, -3]],
  ["$1::text::bool[]", ["{t,f}"], [true, false]],
  ["$1::text::int4[]", ["{{1,2},{3,4}}"], [[1, 2], [3, 4]]],
  ["$1::text::date[]", ["{2026-01-01}"], ["2026-01-01"]],
  ["$1::text::timestamptz[]", ["{2026-01-01T00:00:00Z}"], [new Date("2026-01-01T00:00:00Z")]],
];

const TYPES = "int8 float8 numeric bool text uuid inet date timestamptz bytea jsonb".split(" ");

/** Registers a test of both engines, and of each as another thread borrows it. */
function onEveryWay(
  name: string,
  fn: (t: Deno.TestContext, db: Pick<TestDatabase, "open">) => Promise<void>,
): void {
  onBothEngines(name, fn);
  onBothEngines(`${name}, borrowed`, async (t, db) => {
    const { port1, port2 } = new MessageChannel();
    const database = await db.open();
    const lent = new LentDatabase(database, port1);
    const borrowed = borrowDatabase(port2, database.engine);
    try {
      await fn(t, { open: () => Promise.resolve(borrowed) });
    } finally {
      await borrowed.close();
      await lent.close();
    }
  });
}

async function value(sql: Sql, expression: string, params: Param[]): Promise<unknown> {
  const rows = await sql.query(
    `SELECT ${expression.replace(/^(.*?)( FROM |$)/, "$1 AS v$2")}`,
    params,
  );
  assert.equal(rows.length, 1);
  return rows[0]!.v;
}

onEveryWay("query: every type comes back as documented", async (_t, db) => {
  const sql = await db.open();
  for (const [expression, params, expected] of VALUES) {
    assert.deepEqual(await value(sql, expression, params), expected, `${expression} ${params}`);
  }
  for (const type of TYPES) {
    assert.equal(await value(sql, `$1::${type}`, [null]), null, type);
    assert.deepEqual(await value(sql, `$1::text::${type}[]`, ["{NULL}"]), [null], type);
  }
  assert.deepEqual(await sql.query("SELECT 1 AS a WHERE false"), []);
});

onEveryWay("arrayLiteral: any text comes back as it was", async (_t, db) => {
  const sql = await db.open();
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }).map((t) => t.replaceAll("\0", "")),
    fc.constantFrom("NULL", "null", "{}", "{a,b}", '"', "\\", "", " ", "a,b", '\\"', "t\tn\n"),
  );
  const texts = fc.array(fc.option(text), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(texts, async (values) => {
      assert.deepEqual(await value(sql, "$1::text::text[]", [arrayLiteral(values)]), values);
    }),
    { numRuns: 200 },
  );
});

onEveryWay(
  "query: a refused statement tells its SQLSTATE and harms no other",
  async (_t, db) => {
    const sql = await db.open();
    const refused = async (text: string, params: Param[], sqlState: string) => {
      await assert.rejects(
        sql.query(text, params),
        (error) => error instanceof StatementRefused && error.sqlState === sqlState,
        text,
      );
      assert.equal(await value(sql, "1", []), 1);
    };
    await sql.script("CREATE TABLE one (id int PRIMARY KEY); INSERT INTO one VALUES (1)");
    await refused("INSERT INTO one VALUES ($1)", [1], "23505");
    await refused("SELECT $1::uuid", ["no uuid"], "22P02");
    await refused("SELEKT 1", [], "42601");
    await refused("SELECT * FROM absent", [], "42P01");
    await refused("SELECT 1; SELECT 2", [], "42601");
    await refused("SELECT $1::text::jsonb", ["{"], "22P02");
    await refused("SELECT $1::int4 / 0", [1], "22012");
  },
);

async function names(sql: Sql): Promise<unknown[]> {
  return (await sql.query("SELECT name FROM kept ORDER BY name")).map((row) => row.name);
}

onEveryWay("transaction: kept when it resolves, undone when it throws", async (_t, db) => {
  const sql = await db.open();
  await sql.script("CREATE TABLE kept (name text)");
  const insert = "INSERT INTO kept VALUES ($1)";
  const result = await sql.transaction(async (tx) => {
    await tx.query(insert, ["committed"]);
    return 7;
  });
  assert.equal(result, 7);
  await assert.rejects(
    sql.transaction(async (tx) => {
      await tx.query(insert, ["thrown"]);
      throw new RangeError("mine");
    }),
    RangeError,
  );
  await assert.rejects(
    sql.transaction(async (tx) => {
      await tx.query(insert, ["swallowed"]);
      await tx.query("SELECT 1 / 0").catch(() => {});
    }),
    StatementRefused,
  );
  let escaped: Sql | undefined;
  await sql.transaction(async (tx) => {
    escaped = tx;
    await tx.query(insert, ["outer"]);
    await tx.transaction((inner) => inner.query(insert, ["inner"]));
    await assert.rejects(
      tx.transaction(async (inner) => {
        await inner.query(insert, ["inner, undone"]);
        await inner.query("SELECT 1 / 0");
      }),
      StatementRefused,
    );
  });
  await assert.rejects(escaped!.query(insert, ["late"]), /transaction is over/);
  assert.deepEqual(await names(sql), ["committed", "inner", "outer"]);
});

onEveryWay("transaction: many at once stay apart", async (_t, db) => {
  const sql = await db.open();
  await sql.script("CREATE TABLE kept (name text)");
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      sql.transaction(async (tx) => {
        await tx.query("INSERT INTO kept VALUES ($1)", [`${i} first`]);
        await sleep(i % 3);
        await tx.query("INSERT INTO kept VALUES ($1)", [`${i} second`]);
        if (i % 2 === 1) throw new Error("odd");
      })),
  );
  assert.equal(outcomes.filter((outcome) => outcome.status === "fulfilled").length, 10);
  const kept = await names(sql);
  assert.equal(kept.length, 20);
  assert.ok(kept.every((name) => Number.parseInt(String(name)) % 2 === 0));
});

onBothEngines("close: what comes after is refused", async (_t, db) => {
  const sql = await db.open();
  await sql.ping();
  const running = sql.query("SELECT 1 AS a");
  await sql.close();
  assert.deepEqual(await running, [{ a: 1 }]);
  await assert.rejects(sql.query("SELECT 1"), { name: "DatabaseUnavailable" });
  await assert.rejects(sql.ping(), { name: "DatabaseUnavailable" });
});

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
