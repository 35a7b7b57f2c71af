import { type DemoBatch, demoEvents, type DemoOptions } from "../seed/demo_events.ts";
import { SHOP_NAME, SHOP_TIMEZONE } from "../seed/shop.ts";
import { type Call, type Command, UsageMistake } from "./command.ts";
import {
  callApi,
  type Connection,
  listProjects,
  RequestRefused,
  withConnection,
} from "./connection.ts";
import { forEachInFlight, sendBatch, withTemporaryKey } from "./event_sender.ts";
import { createProgress } from "./progress.ts";

const DEMO_PROJECT = "prj_demo";
const REQUESTS_AT_ONCE = 16;
const HOUR_MS = 3_600_000;
/** Enough for thirty days, the thirty before, and the weekdays that insights compare with. */
const WEEKS_DEFAULT = 9;
const WEEKS_MAX = 104;
const VISITORS_DEFAULT = 3_000;
const VISITORS_MAX = 1_000_000;
const SEED_MAX = 2 ** 31;
/** Reads that may be given up for the sessions that they have to make first. */
const FOLD_READS_MAX = 40;

interface Summary {
  readonly project: string;
  readonly events: number;
  readonly duplicates: number;
  readonly visitors: number;
  readonly seconds: number;
  readonly eventsPerSecond: number;
}

/** The hour that has begun, so that runs within it make the same events. */
function untilMs({ options, now }: Call): number {
  const text = options.text("until");
  if (text === null) return Math.floor(now() / HOUR_MS) * HOUR_MS;
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) {
    throw new UsageMistake(
      "--until must be a date or time such as 2026-11-21 or 2026-11-21T12:00Z.",
    );
  }
  return ms;
}

/** The project to fill: one of its own, so that invented visitors never mix with real ones. */
async function demoProject(connection: Connection, named: string | null): Promise<string> {
  if (named !== null) return named;
  const projects = await listProjects(connection);
  if (!projects.some((project) => project.id === DEMO_PROJECT)) {
    const wanted = { id: DEMO_PROJECT, name: SHOP_NAME, timezone: SHOP_TIMEZONE };
    await callApi(connection, "POST", "/v1/projects", wanted);
  }
  return DEMO_PROJECT;
}

async function sendDemo(
  call: Call,
  connection: Connection,
  project: string,
  options: DemoOptions,
): Promise<Summary> {
  const demo = demoEvents(options);
  const startedAt = call.now();
  const total = { events: 0, duplicates: 0, visitors: 0 };
  const progress = createProgress(call.print.terminal, "Seeding", demo.visitors, call.now);
  const send = (key: string) => async ({ address, userAgent, events, visitorsDone }: DemoBatch) => {
    const body = JSON.stringify({ events });
    const outcome = await sendBatch(connection, key, { address, userAgent }, body, call.signal);
    total.events += outcome.accepted;
    total.duplicates += outcome.duplicates;
    total.visitors = Math.max(total.visitors, visitorsDone);
    if (!call.print.json) progress.update(total.visitors, `${total.events} events`);
  };
  try {
    await withTemporaryKey(
      connection,
      project,
      "footfall seed",
      startedAt,
      (key) => forEachInFlight(demo.batches(), REQUESTS_AT_ONCE, send(key)),
    );
  } finally {
    if (!call.print.json) progress.end();
  }
  const seconds = Math.max(0.001, (call.now() - startedAt) / 1000);
  return {
    project,
    ...total,
    seconds: Math.round(seconds * 10) / 10,
    eventsPerSecond: Math.round(total.events / seconds),
  };
}

/**
 * Asks until the events have become sessions, as every read does first, so that the dashboard
 * answers at once. What has been made by then stays made where a read is given up.
 */
async function awaitSessions(call: Call, connection: Connection, project: string): Promise<void> {
  const progress = createProgress(call.print.terminal, "Making sessions", null, call.now);
  progress.update(0, "");
  try {
    for (let attempt = 1;; attempt++) {
      try {
        await callApi(connection, "GET", `/v1/live?project=${encodeURIComponent(project)}`);
        return;
      } catch (error) {
        const isSlow = error instanceof RequestRefused && error.code === "read_timeout";
        if (!isSlow || attempt === FOLD_READS_MAX || call.signal.aborted) throw error;
      }
    }
  } finally {
    progress.end();
  }
}

async function seed(call: Call): Promise<void> {
  const { options, print } = call;
  const demo: DemoOptions = {
    seed: options.integer("seed", 0, SEED_MAX) ?? 1,
    weeks: options.integer("weeks", 1, WEEKS_MAX) ?? WEEKS_DEFAULT,
    visitors: options.integer("visitors", 1, VISITORS_MAX) ?? VISITORS_DEFAULT,
    untilMs: untilMs(call),
  };
  const summary = await withConnection(call, async (connection) => {
    const project = await demoProject(connection, options.text("project"));
    const sent = await sendDemo(call, connection, project, demo);
    await awaitSessions(call, connection, project);
    return sent;
  });
  print.result(
    summary,
    () =>
      `${summary.events} events of ${summary.visitors} visitors are in ${summary.project}` +
      ` (${summary.duplicates} were there before): ${summary.seconds} s, ` +
      `${summary.eventsPerSecond} events/s.\n`,
  );
  print.remark(
    `\nNext: reload the dashboard and choose this project. If you are not signed in:\n\n` +
      `  ${call.config.footfall} token --link --project ${summary.project}\n` +
      `  ${call.config.footfall} export --project ${summary.project} --from ` +
      `${new Date(demo.untilMs).toISOString().slice(0, 10)}`,
  );
}

export const SEED_COMMAND: Command = {
  name: "seed",
  summary: "Fill a project with a demo shop's visitors",
  usage: "footfall seed [options]",
  notes:
    "The same options make the same events, so a repeated run stores nothing twice, and a later\n" +
    "one adds what would have happened since.",
  wordsMax: 0,
  options: {
    project: {
      type: "string",
      placeholder: "ID",
      default: `${DEMO_PROJECT}, which is created`,
      meaning: "project to fill",
    },
    weeks: {
      type: "string",
      placeholder: "N",
      default: String(WEEKS_DEFAULT),
      meaning: "how far back it reaches",
    },
    visitors: {
      type: "string",
      placeholder: "N",
      default: String(VISITORS_DEFAULT),
      meaning: "about how many people come in that time",
    },
    seed: {
      type: "string",
      placeholder: "N",
      default: "1",
      meaning: "another number makes another history",
    },
    until: {
      type: "string",
      placeholder: "TIME",
      default: "the start of this hour",
      meaning: "no event lies at or after it",
    },
  },
  example: "footfall seed --weeks 12 --visitors 10000",
  run: seed,
};
