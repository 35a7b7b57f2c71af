import { deepStrictEqual, notDeepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { PGlite } from "@electric-sql/pglite";
import { DatabaseUnavailable, type Param, type Row, type Sql } from "../../src/db/sql.ts";
import { createSalts, dayNumber, hashDays } from "../../src/ingest/salts.ts";
import { fakeSql } from "../support/fake_sql.ts";

const at = (text: string) => Date.parse(text);
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

/** The salts' table on an in-memory PostgreSQL, with switches for what a test needs. */
class SaltDatabase implements Sql {
  statements = 0;
  away = false;
  readonly binary = fakeSql({}).binary;
  constructor(readonly engine: PGlite) {}
  async query<R extends Row = Row>(text: string, params: readonly Param[] = []): Promise<R[]> {
    this.statements++;
    if (this.away) throw new DatabaseUnavailable("away");
    return (await this.engine.query<R>(text, [...params])).rows;
  }
  async script(text: string): Promise<void> {
    await this.engine.exec(text);
  }
  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.away) throw new DatabaseUnavailable("away");
    await this.engine.exec("BEGIN");
    const result = await work(this);
    await this.engine.exec("COMMIT");
    return result;
  }
  async days(): Promise<string[]> {
    const { rows } = await this.engine.query<{ day: string }>(
      "SELECT day::text AS day FROM daily_salts ORDER BY day",
    );
    return rows.map((row) => row.day);
  }
}

Deno.test("createSalts: the life of salts", async (t) => {
  const engine = await PGlite.create();
  try {
    const sql = new SaltDatabase(engine);
    await sql.script("CREATE TABLE daily_salts (day date PRIMARY KEY, salt bytea NOT NULL)");
    let nowMs = at("2026-11-21T12:00:00Z");
    const salts = createSalts(sql, () => nowMs, random);

    await t.step("today's is made once, 32 bytes long, however many ask at once", async () => {
      const asked = await Promise.all(
        Array.from({ length: 50 }, () => salts.saltFor("2026-11-21")),
      );
      strictEqual(new Set(asked).size, 1);
      strictEqual(asked[0]?.length, 32);
      strictEqual(sql.statements, 2);
    });

    await t.step("another server has the same, and another day another", async () => {
      const other = createSalts(sql, () => nowMs, random);
      const today = await salts.saltFor("2026-11-21");
      deepStrictEqual(await other.saltFor("2026-11-21"), today);
      notDeepStrictEqual(await other.saltFor("2026-11-20"), today);
      deepStrictEqual(await salts.saltFor("2026-11-20"), await other.saltFor("2026-11-20"));
    });

    await t.step("any other day is refused", async () => {
      for (const day of ["2026-11-19", "2026-11-22", "1970-01-01"]) {
        await rejects(salts.saltFor(day), RangeError);
      }
      deepStrictEqual(await sql.days(), ["2026-11-20", "2026-11-21"]);
    });

    await t.step("a request from before midnight still gets its salts for a minute", async () => {
      nowMs = at("2026-11-22T00:00:30Z");
      const before = await salts.saltFor("2026-11-20");
      await salts.rotate();
      strictEqual(await salts.saltFor("2026-11-20"), before);
      nowMs = at("2026-11-22T00:01:00Z");
      await rejects(salts.saltFor("2026-11-20"), RangeError);
    });

    await t.step("rotate deletes what is older than yesterday and makes today's", async () => {
      const yesterday = await salts.saltFor("2026-11-21");
      await salts.rotate();
      deepStrictEqual(await sql.days(), ["2026-11-21", "2026-11-22"]);
      strictEqual(await salts.saltFor("2026-11-21"), yesterday);
    });

    await t.step("rotateLate writes where a salt is past its time, and else nothing", async () => {
      await salts.rotateLate();
      deepStrictEqual(await sql.days(), ["2026-11-21", "2026-11-22"]);
      nowMs = at("2026-11-23T00:01:00Z");
      await salts.rotateLate();
      deepStrictEqual(await sql.days(), ["2026-11-22", "2026-11-23"]);
    });

    await t.step("while the database is away the failure is passed on, and not kept", async () => {
      nowMs = at("2026-11-24T12:00:00Z");
      sql.away = true;
      await rejects(salts.saltFor("2026-11-24"), DatabaseUnavailable);
      await rejects(salts.rotate(), DatabaseUnavailable);
      sql.away = false;
      strictEqual((await salts.saltFor("2026-11-24")).length, 32);
    });
  } finally {
    await engine.close();
  }
});

Deno.test("hashDays: the salt of the event's own day if it is the receipt's or the one before, else the receipt's", () => {
  const receivedAtMs = at("2026-11-21T00:10:00Z");
  const daysOf = (ms: number) => {
    const { salt, event } = hashDays(dayNumber(ms), receivedAtMs);
    return [salt, event];
  };
  deepStrictEqual(daysOf(at("2026-11-21T00:09:00Z")), ["2026-11-21", "2026-11-21"]);
  deepStrictEqual(daysOf(at("2026-11-20T23:59:59.999Z")), ["2026-11-20", "2026-11-20"]);
  deepStrictEqual(daysOf(at("2026-11-20T00:00:00Z")), ["2026-11-20", "2026-11-20"]);
  deepStrictEqual(daysOf(at("2026-11-19T23:59:59.999Z")), ["2026-11-21", "2026-11-19"]);
  deepStrictEqual(daysOf(at("2026-11-22T00:00:00Z")), ["2026-11-21", "2026-11-22"]);
  deepStrictEqual(daysOf(-1), ["2026-11-21", "1969-12-31"]);
});
