import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { projectedState } from "./projected_state.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.parse("2026-03-02T10:00:00Z");
const NAMES = ["$identify", "page_view", "$set", "click", "$identify", "buy", "page_view", "$last"];

/** As ingestion takes them, which leaves technical names out of sessions. */
const EVENTS = NAMES.map((name, i) =>
  newRow({
    name,
    anonymous_id: `a${i % 3}`,
    user_id: i % 4 === 0 ? `u${i % 3}` : null,
    // Known as a title before it is known as a name.
    title: i === 0 ? "$last" : null,
    in_session: !name.startsWith("$"),
    occurred_at: new Date(START_MS + i * 20 * MINUTE_MS).toISOString(),
  })
);

async function projected(database: Database, rows: readonly EventRow[], inParts: boolean) {
  const [project] = await database.query<{ project_id: number }>(
    "INSERT INTO projects (public_id, name) VALUES ($1::text, 'Test') RETURNING project_id",
    [`prj_${crypto.randomUUID()}`],
  );
  const { project_id } = project!;
  const projection = createProjection(database);
  for (const part of inParts ? rows.map((row) => [row]) : [rows]) {
    await insertEvents(database, part.map((row) => ({ ...row, project_id })));
    await projection.catchUp(project_id);
  }
  const state = await projectedState(database, project_id);
  const names = await database.query<{ name: string }>(
    "SELECT name FROM technical_names WHERE project_id = $1::int ORDER BY name",
    [project_id],
  );
  return { state, names: names.map(({ name }) => name) };
}

const counted = (state: readonly string[]) => state.filter((line) => !line.startsWith("event "));

onBothEngines("technical names: they tell who is who, and count nowhere", async (_t, db) => {
  const database = await openWithProjects(db);
  const together = await projected(database, EVENTS, false);
  assert.deepEqual(together.names, ["$identify", "$last", "$set"]);
  assert.deepEqual(await projected(database, EVENTS, true), together);
  // Those that link people, by names that do not count, and nothing in their place.
  const others = EVENTS.map((row) => row.in_session ? row : { ...row, name: "$link", title: null });
  const linked = await projected(database, others, false);
  assert.deepEqual(counted(linked.state), counted(together.state));
});

onBothEngines("technical names: a server learns those that another one has met", async (_t, db) => {
  const database = await openWithProjects(db);
  const [here, there] = [createProjection(database), createProjection(database)];
  const rowAt = (minute: number, name: string) =>
    newRow({
      name,
      project_id: 1,
      anonymous_id: "a1",
      in_session: !name.startsWith("$"),
      occurred_at: new Date(START_MS + minute * MINUTE_MS).toISOString(),
    });
  const rows = [rowAt(60, "page_view"), rowAt(0, "$ping"), rowAt(90, "page_view")];
  for (const [i, projection] of [here, there, here].entries()) {
    await insertEvents(database, [rows[i]!]);
    await projection.catchUp(1);
  }
  // Which counts all stored events anew, by what this server knows.
  await database.query("UPDATE projects SET timezone = 'Asia/Tokyo' WHERE project_id = 1");
  await here.catchUp(1);
  const [actor] = await database.query("SELECT first_ms FROM actors WHERE project_id = 1");
  assert.deepEqual(actor, { first_ms: START_MS + 60 * MINUTE_MS });
});
