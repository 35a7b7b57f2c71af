import assert from "node:assert/strict";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { DAY_MS } from "../../src/limits.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { LINK_DAYS_MAX } from "../../src/projection/projection_limits.ts";
import { readRolledAcquisition } from "../../src/reports/acquisition/acquisition_scan.ts";
import { NEVER } from "../../src/store/no_day.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { projectedState } from "./projected_state.ts";

const TODAY = 20_600;
const LINKS = `
SELECT d.day, l.prev_day, l.first_day FROM acquisition_days d
CROSS JOIN LATERAL unnest(d.prev_days, d.first_days) AS l (prev_day, first_day)
WHERE d.project_id = 1 AND d.dimension = 0 ORDER BY d.day, l.prev_day`;

onBothEngines(
  "rollups of acquisition: of thousands of years before a day, as much as reads ask for",
  async (t, db) => {
    const database = await openWithProjects(db);
    const stored = async (projectId: number, visits: readonly (readonly [string, number])[]) => {
      const rows = visits.map(([who, day]) =>
        newRow({
          project_id: projectId,
          anonymous_id: who,
          name: "page_view",
          occurred_at: new Date(day * DAY_MS).toISOString(),
        })
      );
      await insertEvents(database, rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
      await createProjection(database).catchUp(projectId);
    };
    const old = Array.from({ length: 20 }, (_, i) => [`a${i}`, TODAY - 3_655 - i] as const);
    const older = Array.from({ length: 20 }, (_, i) => [`b${i}`, TODAY - 400_000 - i] as const);
    const visits = [...old, ...older].flatMap(([who, day]) => [[who, day], [who, TODAY]] as const);
    await stored(1, visits);
    /** The visitors of the longest range, and of a day. */
    const told = async () =>
      await Promise.all([TODAY - 3_653, TODAY].map(async (fromDay) => {
        const { sums } = await readRolledAcquisition(database, {
          ...{ projectId: 1, timezone: "UTC", fromDay, toDay: TODAY + 1, tail: null },
          ...{ span: { fromMs: 0, toMs: 0 }, daysAt: () => [], endOfDayMs: () => 0 },
        }, "channel");
        return [[...sums.visitors], [...sums.newVisitors]];
      }));
    const meant = await told();
    await t.step("a day is linked to days that long ago at most", async () => {
      const links = await database.query<{ day: number; prev_day: number; first_day: number }>(
        LINKS,
      );
      for (const { day, prev_day, first_day } of links) {
        for (const other of [prev_day, first_day]) {
          assert.ok(other === NEVER || other >= day - LINK_DAYS_MAX, `${day}: ${other}`);
        }
      }
      assert.ok(links.length < visits.length, "one link for all that is longer ago");
      assert.deepEqual(meant[0], [[40, 40], [0, 0]]);
    });
    await t.step(
      "what was linked further is told alike, and no longer once it changes",
      async () => {
        await database.query(
          `UPDATE acquisition_days SET prev_days = array_replace(prev_days, $1::int, $1::int - 9000)
        WHERE project_id = 1`,
          [TODAY - LINK_DAYS_MAX],
        );
        assert.deepEqual(await told(), meant);
        const more = [["a1", TODAY - 1], ["b1", TODAY - 1], ["c", TODAY]] as const;
        await stored(1, more);
        await stored(2, [...visits, ...more]);
        const lines = async (project: number) =>
          (await projectedState(database, project)).filter((line) => /^(came|by) /.test(line));
        assert.deepEqual(await lines(1), await lines(2));
      },
    );
  },
);
