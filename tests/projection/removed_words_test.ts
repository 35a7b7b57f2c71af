import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { deleteEventsBefore } from "../../src/projection/retention.ts";
import { candidateValues } from "../../src/query/known_values.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { projectedState } from "./projected_state.ts";
import { assertSameWith, BEFORE_MS, erased, projected, rowAt } from "./removal_world.ts";

/** The ways to remove all events of one person, who was there before `BEFORE_MS`. */
const REMOVALS = {
  erasure: async (database: Database, project: number) => {
    const [who] = await database.query<{ actor_id: number }>(
      "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = 'u1'",
      [project],
    );
    return await erased(database, project, who!.actor_id);
  },
  retention: (database: Database, project: number) =>
    deleteEventsBefore(database, project, BEFORE_MS),
};

for (const [name, remove] of Object.entries(REMOVALS)) {
  onBothEngines(
    `${name}: of words, tags and places stays what others share, and what comes again counts`,
    async (_t, db) => {
      const database = await openWithProjects(db);
      const members = { name: "page_view", host: "shop.test", country: "DE", utm_source: "news" };
      const own = {
        ...{ ...members, city: "Ulm", utm_content: "user-42", browser: "Rare" },
        ...{ path: "/user-42", title: "User 42", referrer: "https://mail.test/user-42" },
      };
      // The first row of each value that others share is hers.
      const hers = [rowAt(1, { ...own, anonymous_id: "u1", utm_medium: "email" })];
      const kept = [
        rowAt(122, { ...members, anonymous_id: "a2", utm_medium: "email", path: "/" }),
        rowAt(123, { anonymous_id: "a3", name: "page_view" }),
      ];
      const project = await projected(database, [...hers, ...kept]);
      const rest = await projected(database, kept);
      const valuesOf = async (project: number) =>
        await Promise.all(
          [
            ...["source", "medium", "content", "country", "city", "browser", "host"],
            ...["path", "referrer"],
          ].map(async (field) => (await candidateValues(database, project, field)).toSorted()),
        );
      const before = await valuesOf(project);
      assert.deepEqual(before.slice(2, 5), [["user-42"], ["DE"], ["Ulm"]]);
      assert.deepEqual(before[7], ["/", "/user-42"]);
      assert.equal(await remove(database, project), 1);
      assert.deepEqual(await valuesOf(project), await valuesOf(rest));
      const [row] = await database.query(
        `SELECT (SELECT count(*) FROM traffic WHERE utm_content <> '')
          + (SELECT count(*) FROM terms WHERE term ~ 'ser.42') AS n`,
      );
      assert.equal(row!.n, 0);
      // Somebody else comes with the same values, and somebody without any.
      const later = [
        rowAt(140, { ...own, anonymous_id: "a4" }),
        rowAt(141, { anonymous_id: "a5" }),
      ];
      await assertSameWith(database, project, rest, later);
      assert.deepEqual(await valuesOf(project), await valuesOf(rest));
    },
  );
}

onBothEngines(
  "retention: words of a removal that was broken off go with the next",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const own = { utm_source: "user-42", city: "Ulm", referrer: "https://mail.test/user-42" };
    const old = (step: number) =>
      rowAt(step, { ...own, anonymous_id: `u${step}`, path: `/${step}` });
    const kept = [rowAt(122, { anonymous_id: "a2", path: "/" })];
    const project = await projected(database, [old(1), old(90), ...kept]);
    const rest = await projected(database, kept);
    const fields = ["path", "referrer", "source", "city"];
    const valuesOf = (project: number) =>
      Promise.all(fields.map((field) => candidateValues(database, project, field)));
    // The server ends once the first of two transactions has been committed.
    const transaction = database.transaction.bind(database);
    let begun = 0;
    database.transaction = async (work) => {
      if (begun++ > 0) throw new Error("ended");
      return await transaction(work);
    };
    await assert.rejects(deleteEventsBefore(database, project, BEFORE_MS, 1), /^Error: ended$/);
    database.transaction = transaction;
    assert.deepEqual((await valuesOf(project))[0]!.toSorted(), ["/", "/1", "/90"]);
    assert.equal(await deleteEventsBefore(database, project, BEFORE_MS, 1), 1);
    assert.deepEqual(await valuesOf(project), await valuesOf(rest));
    await assertSameWith(database, project, rest, [rowAt(140, { ...own, anonymous_id: "a4" })]);
  },
);

onBothEngines(
  "retention: words that a damaged segment kept go once it can be read",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const old = rowAt(1, { anonymous_id: "u1", path: "/old", referrer: "https://mail.test/u1" });
    const kept = [rowAt(122, { anonymous_id: "a2", path: "/" })];
    const project = await projected(database, [old, ...kept]);
    const paths = async () => (await candidateValues(database, project, "path")).toSorted();
    const store = "UPDATE segments SET body = $2::text::bytea WHERE segment_id = $1::int8";
    const [segment] = await database.query<{ id: number; body: Uint8Array }>(
      `SELECT segment_id AS id, body FROM segments
      WHERE project_id = $1::int ORDER BY from_ms DESC LIMIT 1`,
      [project],
    );
    const { id, body } = segment!;
    await database.query(store, [id, `\\x${body.subarray(0, 9).toHex()}`]);
    assert.equal(await deleteEventsBefore(database, project, BEFORE_MS), 1);
    assert.deepEqual(await paths(), ["/", "/old"]);
    const links = () =>
      database.query("SELECT links_version FROM projections WHERE project_id = $1::int", [project]);
    const before = await links();
    assert.equal(await deleteEventsBefore(database, project, BEFORE_MS), 0);
    assert.deepEqual(await links(), before);
    await database.query(store, [id, `\\x${body.toHex()}`]);
    assert.equal(await deleteEventsBefore(database, project, BEFORE_MS), 0);
    assert.deepEqual(await paths(), ["/"]);
    assert.deepEqual(
      await projectedState(database, project),
      await projectedState(database, await projected(database, kept)),
    );
  },
);
