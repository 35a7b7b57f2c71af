import assert from "node:assert/strict";
import { SessionOfEvent } from "../../src/scans/session_of_event.ts";
import { type ScannedSession, SessionScan } from "../../src/scans/session_scan.ts";
import type { Timeline } from "../../src/timelines/timeline.ts";
import { EVER, openWithHistory, randomHistory } from "../reports/session_world.ts";
import { onBothEngines } from "../support/databases.ts";
import { timelinesOf, visiting } from "../support/read_timelines.ts";

const IDS = ["traffic", "entryPath", "exitPath"] as const;

type SessionIds = Readonly<Record<typeof IDS[number], number>>;
const NO_SESSION: SessionIds = { traffic: 0, entryPath: 0, exitPath: 0 };

/** Returns the ids of the session of each event, by the place of its segment and its place in it. */
function idsByScan(actor: number, timeline: Timeline): Map<string, SessionIds> {
  const ids = new Map<string, SessionIds>();
  const take = (session: ScannedSession) => {
    const { traffic, entryPath, exitPath } = session;
    session.forEachSlice(({ traffics }, start, end, place) => {
      for (let at = start; at < end; at++) {
        const isIn = traffics[at] !== 0;
        ids.set(`${place} ${at}`, isIn ? { traffic, entryPath, exitPath } : NO_SESSION);
      }
    });
  };
  new SessionScan(EVER, take).visit(actor, timeline);
  return ids;
}

onBothEngines(
  "session of an event: the ids are those of a scan of all sessions",
  async (_t, db) => {
    const database = await openWithHistory(db, randomHistory(250));
    const timelines = await timelinesOf(database)(EVER, []);
    const finders = IDS.map((of) => new SessionOfEvent(of));
    let [events, others, slices] = [0, 0, 0];
    const visitor = visiting((actor, timeline) => {
      const wanted = idsByScan(actor, timeline);
      for (let slice = timeline.first; slice < timeline.end; slice++, slices++) {
        for (let at = timeline.starts[slice]!; at < timeline.ends[slice]!; at++, events++) {
          const { traffic, entryPath, exitPath } = wanted.get(
            `${timeline.segmentOf[slice]} ${at}`,
          )!;
          const found = finders.map((finder) => finder.idOf(timeline, slice, at));
          assert.deepEqual(found, [traffic, entryPath, exitPath]);
          others += Number(traffic === 0);
        }
      }
    });
    await timelines.scan(visitor, () => null);
    assert.ok(events > 200 && others > 20 && slices > 20, `${events} ${others} ${slices}`);
  },
);
