import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { eraseActor } from "../../src/projection/erasure.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { SEGMENT_SPAN_MS } from "../../src/store/store_limits.ts";
import { newRow } from "../support/event_rows.ts";
import { projectedState } from "./projected_state.ts";

/** Half a day before segments of another span begin, so that the deleted events lie in several. */
export const START_MS = 826 * SEGMENT_SPAN_MS - 12 * 3_600_000;
export const STEP_MS = 10 * 60_000;

export const BEFORE_MS = START_MS + 100 * STEP_MS;
export const rowAt = (step: number, members: Partial<EventRow> = {}): EventRow =>
  newRow({ occurred_at: new Date(START_MS + step * STEP_MS).toISOString(), ...members });

/** Erases an actor. @returns how many events there were */
export async function erased(
  database: Database,
  projectId: number,
  actorId: number,
): Promise<number> {
  return (await database.transaction((tx) => eraseActor(tx, projectId, actorId))).eventIds.length;
}

/** Stores events in a project of their own. @returns its number */
export async function projected(database: Database, rows: readonly EventRow[]): Promise<number> {
  const [project] = await database.query<{ project_id: number }>(
    `INSERT INTO projects (public_id, name, retention_days)
    VALUES ($1::text, 'Test', 30) RETURNING project_id`,
    [`prj_${crypto.randomUUID()}`],
  );
  const { project_id } = project!;
  await insertEvents(
    database,
    rows.map((row) => ({ ...row, project_id })).sort((a, b) => a.event_id < b.event_id ? -1 : 1),
  );
  await createProjection(database).catchUp(project_id);
  return project_id;
}

/** Stores the same later events in both projects, and checks that all of each comes to the same. */
export async function assertSameWith(
  database: Database,
  project: number,
  rest: number,
  later: readonly EventRow[],
): Promise<void> {
  for (const project_id of [project, rest]) {
    await insertEvents(
      database,
      later.map((row) => ({ ...row, project_id })).sort((a, b) => a.event_id < b.event_id ? -1 : 1),
    );
    await createProjection(database).catchUp(project_id);
  }
  assert.deepEqual(await projectedState(database, project), await projectedState(database, rest));
}
