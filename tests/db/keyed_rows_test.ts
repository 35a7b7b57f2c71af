import assert from "node:assert/strict";
import { arrayLiteral, type Database, type Sql } from "../../src/db/sql.ts";
import { Dictionaries } from "../../src/projection/dictionaries.ts";
import { Identities } from "../../src/projection/identities.ts";
import { termDigests } from "../../src/query/filter_conditions.ts";
import type { Filter } from "../../src/query/filters.ts";
import { knownValues } from "../../src/query/known_values.ts";
import { findPerson } from "../../src/query/person_id.ts";
import { idBounds } from "../../src/scans/id_bounds.ts";
import { namedIds } from "../../src/scans/named_ids.ts";
import { readIds } from "../../src/scans/value_texts.ts";
import { columnsOf } from "../support/event_batch.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { openAnalyzed, rowsRead } from "../support/rows_read.ts";

const ROWS = 20_000;
const WANTED = 300;
const TABLES = ["terms", "identities"];
const SCOPE = { projectId: 1, siteHost: null };

const path = (i: number) => `/p${i}`;
const user = (i: number) => `user ${i}`;

async function fill(database: Database, projectId: number, rows: number): Promise<void> {
  const numbers = Array.from({ length: rows }, (_, i) => i + 10);
  await database.query(
    `INSERT INTO terms (project_id, term_id, digest, term)
    SELECT $1::int, a.* FROM unnest($2::text::int[], $3::text::uuid[], $4::text::text[]) AS a`,
    [
      projectId,
      ...[numbers, termDigests(numbers.map(path)), numbers.map(path)].map(arrayLiteral),
    ],
  );
  await database.query(
    `INSERT INTO identities (project_id, identity_id, actor_id, kind, value)
    SELECT $1::int, i, i, 'u', 'user ' || i FROM generate_series(10, $2::int) AS i`,
    [projectId, rows],
  );
}

onBothEngines(
  "keyed rows: each value is looked up, whatever the planner knows of its project",
  async (_t, db) => {
    const database = await openAnalyzed(db, TABLES, (each, id) => fill(each, id, 20));
    await fill(database, 1, ROWS);
    const some = Array.from({ length: WANTED }, (_, i) => 20 * (i + 1));
    const paths = some.map(path);
    const users = some.map(user);
    const known = new Map([["path", new Set(paths)], ["userId", new Set(users)]]);
    const rows = some.map((i) => newRow({ path: path(i), user_id: user(i) }));
    const works: Record<string, (tx: Sql) => Promise<void>> = {
      knownValues: async (tx) => assert.deepEqual(await knownValues(tx, 1, known), known),
      "readIds of paths": async (tx) =>
        assert.equal((await readIds(tx, SCOPE, "path", paths)).size, WANTED),
      "readIds of users": async (tx) =>
        assert.equal((await readIds(tx, SCOPE, "userId", users)).get(20), user(20)),
      filters: async (tx) => {
        const is = (field: "path" | "userId", values: string[]): Filter => ({
          field,
          op: "is",
          values,
        });
        const [[byPath, byUser] = []] = await namedIds(tx, SCOPE, [
          [is("path", paths), is("userId", users)],
        ]);
        assert.deepEqual([byPath?.ids.length, byUser?.ids.length], [WANTED, WANTED]);
      },
      findPerson: async (tx) =>
        assert.deepEqual(await findPerson(tx, 1, user(20)), {
          ...{ actor_id: 20, kind: "u", value: user(20) },
        }),
      idBounds: async (tx) =>
        assert.deepEqual(await idBounds(tx, 1, "termMax", "identityMax"), {
          ...{ termMax: ROWS + 9, identityMax: ROWS },
        }),
      dictionaries: async (tx) => void await new Dictionaries(null).resolve(tx, 1, columnsOf(rows)),
      identities: async (tx) => {
        const ids = rows.map(({ event_id }) => event_id);
        await new Identities().resolve(tx, 1, columnsOf(rows), new Float64Array(ids.length), ids);
      },
    };
    for (const [name, work] of Object.entries(works)) {
      const read = await rowsRead(database, TABLES, work);
      assert.ok(read <= 10 * WANTED, `${name} reads ${read} rows`);
    }
  },
);
