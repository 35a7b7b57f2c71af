import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import {
  arrayLiteral,
  DatabaseUnavailable,
  type Param,
  READ_SNAPSHOT,
  type Settings,
  type Sql,
  StatementRefused,
} from "../../src/db/sql.ts";
import { type BinaryRow, numberOf } from "../../src/db/binary_rows.ts";
import { borrowDatabase } from "../../src/db/borrowed_database.ts";
import { LentDatabase } from "../../src/db/lent_database.ts";
import { onFreshEngines, type TestDatabase } from "../support/databases.ts";

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
  ["$1::text", ["\ufeffbegins with a byte order mark"], "\ufeffbegins with a byte order mark"],
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
  // A type that is not in the table of parsers stays text, and so does its array.
  ["$1::text::interval[]", ["{01:00:00}"], "{01:00:00}"],
];

const TYPES = "int8 float8 numeric bool text uuid inet date timestamptz bytea jsonb".split(" ");

/** Registers a test of both engines, and of each as another thread borrows it. */
function onEveryWay(
  name: string,
  fn: (t: Deno.TestContext, db: Pick<TestDatabase, "open">) => Promise<void>,
): void {
  onFreshEngines(name, fn);
  onFreshEngines(`${name}, borrowed`, async (t, db) => {
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

const hexOf = (rows: readonly BinaryRow[]) => rows.map((row) => row.map((value) => value.toHex()));

/** Bytes without a pattern, of all values. */
const someBytes = (length: number) =>
  Uint8Array.from({ length }, (_, i) => Math.imul(i, 2_654_435_761) >>> 23);

onEveryWay("binary: bytes come back as they are, in the order of the query", async (_t, db) => {
  const sql = await db.open();
  const every = Uint8Array.from({ length: 256 }, (_, i) => i);
  const values = ["", "00", "000000", "ff00", every.toHex(), every.toReversed().toHex()];
  const rows = await sql.binary(
    `SELECT v.number, decode(v.hex, 'hex'), v.number::text::bytea
    FROM unnest($1::text::text[]) WITH ORDINALITY AS v (hex, number) ORDER BY v.number DESC`,
    [arrayLiteral(values)],
  );
  assert.deepEqual(rows.map(([number]) => numberOf(number!)), [6, 5, 4, 3, 2, 1]);
  const digits = values.map((_, i) => `3${i + 1}`);
  assert.deepEqual(
    hexOf(rows).map(([, ...more]) => more),
    values.map((value, i) => [value, digits[i]!]).reverse(),
  );
});

onEveryWay("binary: numbers, parameters, and nothing at all", async (_t, db) => {
  const sql = await db.open();
  for (const number of [0, 1, -1, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    const [[value] = [], ...more] = await sql.binary("SELECT $1::int8", [number]);
    assert.deepEqual([numberOf(value!), more], [number, []]);
  }
  const told = await sql.binary("SELECT $1::text, $2::bool, $3::text", ["ä;'--", true, ""]);
  assert.deepEqual(hexOf(told), [["c3a43b272d2d", "01", ""]]);
  assert.deepEqual(await sql.binary("SELECT 1::int8 WHERE $1::bool", [false]), []);
  assert.deepEqual(await sql.binary("SELECT 1::int8 WHERE false"), []);
});

onEveryWay("binary: rows of megabytes, and many of them", async (_t, db) => {
  const sql = await db.open();
  const bytes = someBytes(5_000_000);
  const starts = [1, 2_000_000, 4_999_999];
  const large = await sql.binary(
    `SELECT substring($1::text::bytea FROM start)
    FROM unnest($2::text::int[]) WITH ORDINALITY AS s (start, number) ORDER BY number`,
    [`\\x${bytes.toHex()}`, arrayLiteral(starts)],
  );
  for (const [i, start] of starts.entries()) {
    assert.equal(Buffer.compare(large[i]![0]!, bytes.subarray(start - 1)), 0, `from ${start}`);
  }
  const many = await sql.binary("SELECT i FROM generate_series(1::int8, $1::int8) AS i", [50_000]);
  assert.deepEqual(many.map(([value]) => numberOf(value!)), many.map((_, i) => i + 1));
  assert.equal(many.length, 50_000);
});

onEveryWay("binary: several at once, beside other statements", async (_t, db) => {
  const sql = await db.open();
  const asked = async (of: Sql, number: number) => {
    const rows = await of.binary("SELECT i FROM generate_series($1::int8, $1::int8 + 1) AS i", [
      number,
    ]);
    return rows.map(([value]) => numberOf(value!));
  };
  const all = (of: Sql) =>
    Promise.all([asked(of, 1), value(of, "$1::int8", [7]), asked(of, 2), asked(of, 3)]);
  const expected = [[1, 2], 7, [2, 3], [3, 4]];
  assert.deepEqual(await sql.transaction(all), expected);
  assert.deepEqual(await sql.transaction((tx) => tx.transaction(all)), expected);
  assert.deepEqual(await all(sql), expected, "outside of a transaction");
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => sql.transaction(all))), [
    expected,
    expected,
    expected,
  ]);
});

onEveryWay("binary: a refused statement tells its SQLSTATE and harms no other", async (_t, db) => {
  const sql = await db.open();
  const refused = async (of: Sql, text: string, sqlState: string, params: Param[] = []) =>
    await assert.rejects(
      of.binary(text, params),
      (error) => error instanceof StatementRefused && error.sqlState === sqlState,
      text,
    );
  const isWell = async (of: Sql) =>
    assert.deepEqual(hexOf(await of.binary("SELECT 'a'::text")), [["61"]]);
  const cases: readonly (readonly [text: string, sqlState: string, params?: Param[]])[] = [
    ["SELECT (1 / ($1::int))::int8", "22012", [0]],
    ["SELECT (1 / (2 - i))::int8 FROM generate_series(1::int8, 3) AS i", "22012"],
    ["SELECT $1::uuid", "22P02", ["no uuid"]],
    ["SELEKT 1", "42601"],
    ["SELECT * FROM absent", "42P01"],
    ["SELECT 1; SELECT 2", "42601"],
  ];
  for (const [text, sqlState, params] of cases) {
    await refused(sql, text, sqlState, params);
    await isWell(sql);
    await sql.transaction(async (tx) => {
      const inner = tx.transaction((nested) => refused(nested, text, sqlState, params));
      await assert.rejects(inner, StatementRefused, "what failed in it is not passed over");
      await isWell(tx);
    });
  }
  await assert.rejects(
    sql.transaction(async (tx) => {
      // What is sent behind it fails for the same reason.
      const both = [refused(tx, "SELECT 1 / 0", "22012"), refused(tx, "SELECT 1", "22012")];
      await Promise.all(both);
    }),
    (error) => error instanceof StatementRefused && error.sqlState === "22012",
  );
});

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
  await assert.rejects(escaped!.binary("SELECT 1"), /transaction is over/);
  assert.deepEqual(await names(sql), ["committed", "inner", "outer"]);
});

onEveryWay("transaction: with settings it reads one snapshot, under them alone", async (_t, db) => {
  const sql = await db.open();
  await sql.script("CREATE TABLE kept (name text)");
  const begun = () => [READ_SNAPSHOT, "SET LOCAL work_mem = '1234kB'"];
  const read = <T>(work: (tx: Sql) => Promise<T>, settings: Settings = begun) =>
    sql.transaction(work, undefined, settings);
  const state = "SELECT current_setting('work_mem') AS memory, count(*) AS kept FROM kept";
  const outside = await sql.query(state);
  assert.deepEqual(
    await read(async (tx) => {
      const binary = await tx.binary("SELECT current_setting('transaction_isolation')");
      assert.equal(new TextDecoder().decode(binary[0]![0]), "repeatable read");
      return await tx.query(state);
    }),
    [{ memory: "1234kB", kept: 0 }],
  );
  const insert = "INSERT INTO kept VALUES ('a')";
  await assert.rejects(read((tx) => tx.query(insert)), DatabaseUnavailable);
  await assert.rejects(read(() => Promise.reject(new Error("its own"))), /its own/);
  // Whatever the work makes of it.
  const unknown = () => [READ_SNAPSHOT, "SET LOCAL no_such_setting = 1"];
  const works: ((tx: Sql) => Promise<unknown>)[] = [
    (tx) => tx.query(insert),
    (tx) => tx.query(insert).catch(() => {}),
    () => Promise.resolve(),
  ];
  for (const work of works) await assert.rejects(read(work, unknown), { sqlState: "42704" });
  const all = Array.from({ length: 10 }, () => read((tx) => tx.query(state)));
  for (const rows of await Promise.all(all)) {
    assert.deepEqual(rows, [{ memory: "1234kB", kept: 0 }]);
  }
  assert.deepEqual(await sql.query(state), outside);
  await sql.query(insert);
  assert.deepEqual(await names(sql), ["a"]);
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

onFreshEngines("close: later calls are refused", async (_t, db) => {
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
