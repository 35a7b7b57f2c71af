import assert from "node:assert/strict";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import { createFold } from "../../src/sessions/fold.ts";
import { digestOf } from "../../src/sessions/fold_dictionaries.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { foldedState } from "./folded_state.ts";

const KNOWN_VERSION = 10;

const NAMES_TABLE = `
CREATE TABLE technical_names (
  project_id int, term_id int, name text, PRIMARY KEY (project_id, term_id))`;
/** Names that were counted as any other. */
const RENAMED = `
UPDATE events SET name = '$' || substr(name, 2) WHERE name LIKE '~%';
UPDATE terms SET term = '$' || substr(term, 2), digest = ${digestOf("'$' || substr(term, 2)")}
WHERE term LIKE '~%';
DROP TABLE technical_names`;

const MINUTE_MS = 60_000;
const START_MS = Date.parse("2026-03-02T10:00:00Z");

function rows(names: readonly string[], members: Partial<EventRow> = {}): EventRow[] {
  return names.map((name, i) =>
    newRow({
      name,
      event_id: `00000000-0000-7000-8000-${String(i).padStart(12, "0")}`,
      anonymous_id: `a${i % 3}`,
      user_id: i % 4 === 0 ? `u${i % 3}` : null,
      occurred_at: new Date(START_MS + i * 20 * MINUTE_MS).toISOString(),
      ...members,
    })
  );
}

/** As ingestion takes them, which leaves technical names out of sessions. */
const sentNow = (row: EventRow): EventRow => {
  const name = row.name.replace("~", "$");
  return { ...row, name, in_session: !name.startsWith("$") };
};

async function stored(database: Database, some: readonly EventRow[]): Promise<number> {
  const [project] = await database.query<{ project_id: number }>(
    "INSERT INTO projects (public_id, name) VALUES ($1::text, 'Test') RETURNING project_id",
    [`prj_${crypto.randomUUID()}`],
  );
  const { project_id } = project!;
  await insertEvents(database, some.map((row) => ({ ...row, project_id })));
  return project_id;
}

/** What the fold of now needs beside that schema. */
const LATER_COLUMNS = `
  ALTER TABLE fold_marks ADD set_aside_until timestamptz;
  ALTER TABLE fold_projects ADD recounted_to int, ADD recount_timezone text, ADD histories_to int`;
const WITHOUT_LATER_COLUMNS = `
  ALTER TABLE fold_marks DROP set_aside_until;
  ALTER TABLE fold_projects DROP recounted_to, DROP recount_timezone, DROP histories_to`;

onBothEngines("technical names: what was counted before is folded anew", async (_t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS.filter(({ version }) => version < KNOWN_VERSION));
  await database.script(NAMES_TABLE);
  const mixed = rows(["~identify", "page_view", "~set", "click", "~identify", "buy", "page_view"]);
  const plain = rows(["page_view", "a $name", "buy", "page_view"]);
  const ofMixed = await stored(database, mixed);
  const ofPlain = await stored(database, plain);
  await database.script(LATER_COLUMNS);
  for (const project of [ofMixed, ofPlain]) await createFold(database).catchUp(project);
  await database.script(RENAMED);
  const before = {
    mixed: await foldedState(database, ofMixed),
    plain: await foldedState(database, ofPlain),
  };

  await database.script(WITHOUT_LATER_COLUMNS);
  await migrate(database, MIGRATIONS);
  assert.deepEqual(await foldedState(database, ofPlain), before.plain);
  await createFold(database).catchUp(ofMixed);
  const fresh = await stored(database, mixed.map(sentNow));
  await createFold(database).catchUp(fresh);
  const after = await foldedState(database, ofMixed);
  assert.deepEqual(after, await foldedState(database, fresh));
  assert.notDeepEqual(after, before.mixed);
});
