/**
 * `deno task bench:shapes [--engine postgres|embedded|both] [--share 1] [--shape "newest"]`
 *
 * What the projection makes of histories of an odd shape: one actor with a million events in 50,000
 * sessions, who comes back on new days; a million people with one event each; 400 devices that 120
 * users share; 3,000 devices that turn out late to be somebody else's; an export that comes back,
 * newest first, so that every event of 20,000 visits lies before those that are known. Each in events a
 * second and processor time (of the database too), with the slowest transaction, and what an event takes
 * against one of a history of half the size: 1 is linear. `--share` makes less; `--shape` names one of
 * them by a part of what it is called.
 */
import { parseArgs } from "node:util";
import { openDatabase } from "../src/db/open.ts";
import { migrate } from "../src/db/migrate.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";
import type { Database } from "../src/db/sql.ts";
import { insertEvents } from "../src/ingest/event_insert.ts";
import { createProjection } from "../src/projection/projection.ts";
import type { EventRow } from "../src/store/event_row.ts";
import { newRow } from "../tests/support/event_rows.ts";
import { withMembers } from "../tests/support/fake_sql.ts";
import { startPostgres } from "../tests/support/throwaway_postgres.ts";
import { openBench } from "./configured_cluster.ts";
import {
  loadLastMinute,
  machineLine,
  processCpuSeconds,
  treeCpuSeconds,
} from "./process_figures.ts";

const START_MS = Date.parse("2020-01-01T00:00:00Z");
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const EVENTS_PER_FLUSH = 2_000;
const PIECES = 10;
const EVENTS_PER_SESSION = 20;
const PAGES = 60;

/** How many events there are, and each of them. */
interface Shape {
  readonly name: string;
  readonly events: number;
  readonly eventAt: (i: number) => Partial<EventRow>;
}

const at = (ms: number): string => new Date(START_MS + Math.round(ms)).toISOString();

const oneActor = (share: number): Shape => ({
  name: "one actor, sessions of 20 events, 24 a day",
  events: Math.round(1_000_000 * share),
  eventAt: (i) => {
    const session = Math.floor(i / EVENTS_PER_SESSION);
    return {
      anonymous_id: "one",
      path: `/p/${session * 7 % PAGES}`,
      occurred_at: at(session * 60 * MINUTE_MS + (i % EVENTS_PER_SESSION) * MINUTE_MS),
    };
  },
});

const sharedDevices = (share: number): Shape => ({
  name: "400 devices shared by 120 users",
  events: Math.round(100_000 * share),
  eventAt: (i) => ({
    anonymous_id: `d${i * 13 % 400}`,
    user_id: i % 3 === 0 ? `u${i * 31 % 120}` : null,
    // In no order: what is told late is of earlier than what is known.
    occurred_at: at((i * 7_919 % 100_003) * MINUTE_MS / 2),
  }),
});

const lateReidentified = (share: number): Shape => {
  const devices = Math.round(3_000 * share);
  return {
    name: "devices, then signed in, then told late of another user's",
    events: 3 * devices,
    eventAt: (i) => {
      const [device, turn] = [i % devices, Math.floor(i / devices)];
      const users = [null, `u${device}`, `v${device % 120}`];
      const days = [0, 1, -1];
      return {
        anonymous_id: `d${device}`,
        user_id: users[turn]!,
        occurred_at: at(days[turn]! * DAY_MS + device),
      };
    },
  };
};

const newestFirst = (share: number): Shape => {
  const events = Math.round(1_000_000 * share);
  const visits = Math.round(20_000 * share);
  return {
    name: "visits of 50 events, newest event first",
    events,
    eventAt: (i) => ({
      anonymous_id: `n${i * 7 % visits}`,
      path: `/p/${i % PAGES}`,
      occurred_at: at(DAY_MS - i / 10),
    }),
  };
};

const everybodyOnce = (share: number): Shape => ({
  name: "people of one event each",
  events: Math.round(1_000_000 * share),
  eventAt: (i) => ({
    anonymous_id: `o${i}`,
    path: `/p/${i % PAGES}`,
    // Each in the next tenth of a second: a million in 28 hours.
    occurred_at: at(i * 100),
  }),
});

const SHAPES = [oneActor, everybodyOnce, sharedDevices, lateReidentified, newestFirst];

/** Times every transaction of the projection. */
function timing(database: Database) {
  const took = { slowestMs: 0 };
  const timed = withMembers(database, {
    transaction: async (work) => {
      const startedAt = performance.now();
      const done = await database.transaction(work);
      took.slowestMs = Math.max(took.slowestMs, performance.now() - startedAt);
      return done;
    },
  });
  return { took, timed };
}

async function store(
  database: Database,
  projectId: number,
  shape: Shape,
  from: number,
  to: number,
) {
  for (let first = from; first < to; first += EVENTS_PER_FLUSH) {
    const rows = Array.from(
      { length: Math.min(EVENTS_PER_FLUSH, to - first) },
      (_, i) => newRow({ project_id: projectId, name: "page_view", ...shape.eventAt(first + i) }),
    );
    await insertEvents(database, rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
  }
}

interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly slowestMs: number;
}

/** Stores a shape in pieces, as it would come, and projects each. */
async function measure(
  database: Database,
  databasePid: number | null,
  shape: Shape,
): Promise<Measured> {
  const [project] = await database.query<{ project_id: number }>(
    "INSERT INTO projects (public_id, name) VALUES ($1::text, 'Shape') RETURNING project_id",
    [`prj_${crypto.randomUUID()}`],
  );
  const { project_id } = project!;
  const { took, timed } = timing(database);
  const projection = createProjection(timed);
  const cpu = () =>
    processCpuSeconds("self") + (databasePid === null ? 0 : treeCpuSeconds(databasePid));
  let seconds = 0;
  let cpuSeconds = 0;
  for (let piece = 0; piece < PIECES; piece++) {
    const edge = (n: number) => Math.round(n * shape.events / PIECES);
    await store(database, project_id, shape, edge(piece), edge(piece + 1));
    const [startedAt, before] = [performance.now(), cpu()];
    await projection.catchUp(project_id);
    seconds += (performance.now() - startedAt) / 1000;
    cpuSeconds += cpu() - before;
  }
  return { seconds, cpuSeconds, slowestMs: took.slowestMs };
}

async function measureTwice(
  database: Database,
  databasePid: number | null,
  shapeOf: (share: number) => Shape,
  share: number,
): Promise<string> {
  const [half, whole] = [shapeOf(share / 2), shapeOf(share)];
  const small = await measure(database, databasePid, half);
  const large = await measure(database, databasePid, whole);
  const each = ({ cpuSeconds }: Measured, { events }: Shape) => cpuSeconds * 1e6 / events;
  return `${whole.name.padEnd(58)} ${whole.events.toLocaleString("en").padStart(9)} events, ` +
    `${Math.round(whole.events / large.seconds).toLocaleString("en")} events/s, ` +
    `${each(large, whole).toFixed(0)} µs of processor each, ` +
    `${(each(large, whole) / each(small, half)).toFixed(2)} × those of half as many; ` +
    `slowest transaction ${Math.round(large.slowestMs)} ms`;
}

const { values } = parseArgs({
  options: {
    engine: { type: "string", default: "both" },
    share: { type: "string", default: "1" },
    shape: { type: "string", default: "" },
  },
});
for (const engine of values.engine === "both" ? ["postgres", "embedded"] : [values.engine]) {
  const cluster = engine === "postgres" ? await startPostgres() : null;
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-shapes-" });
  const database = cluster === null
    ? await openDatabase({
      databaseUrl: null,
      dataDir,
      statementTimeoutMs: 60_000,
      connectionsMax: 1,
    })
    : openBench(cluster.url);
  try {
    await migrate(database, MIGRATIONS);
    console.log(`${engine}; ${machineLine("")}; load ${loadLastMinute().toFixed(1)}`);
    for (const shapeOf of SHAPES.filter((shape) => shape(1).name.includes(values.shape))) {
      console.log(
        await measureTwice(database, cluster?.pid ?? null, shapeOf, Number(values.share)),
      );
    }
  } finally {
    await database.close();
    await cluster?.remove();
    await Deno.remove(dataDir, { recursive: true });
  }
}
