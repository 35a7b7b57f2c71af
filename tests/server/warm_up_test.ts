import assert from "node:assert/strict";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { warmUpReads } from "../../src/server/warm_up.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects, PROJECT_ONE } from "../support/event_rows.ts";
import { IN_PLACE } from "../support/in_place.ts";

onBothEngines(
  "warm-up: the last day of a project is read, once there are events",
  async (t, db) => {
    const database = await openWithProjects(db);
    const projection = createProjection(database);
    const segments = new SegmentCache(10_000_000);
    const services = {
      database,
      reads: database,
      projection,
      segments,
      pool: IN_PLACE,
      readTimeoutMs: 10_000,
      now: () => Date.parse("2026-03-02T00:00:00Z"),
    };
    const stopping = new AbortController();

    await t.step("nothing is read without events", async () => {
      assert.equal(await warmUpReads(services, stopping.signal), null);
      assert.equal(segments.bytes, 0);
    });
    await t.step("events are read", async () => {
      await insertEvents(database, [newRow({ project_id: PROJECT_ONE.projectId })]);
      await projection.catchUp(PROJECT_ONE.projectId);
      assert.equal(await warmUpReads(services, stopping.signal), PROJECT_ONE.id);
      assert.ok(segments.bytes > 0);
    });
    await t.step("the end of the server ends it", async () => {
      stopping.abort();
      await assert.rejects(warmUpReads(services, stopping.signal));
    });
  },
);
