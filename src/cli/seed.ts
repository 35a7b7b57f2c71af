import { type DemoBatch, demoEvents, type DemoOptions } from "../demo/visitors/demo_events.ts";
import { SHOP_ORIGIN } from "../demo/shop.ts";
import { partedAt, presentVisits } from "../demo/visitors/present.ts";
import { type Call, type Command, UsageMistake } from "./command.ts";
import { callApi, type Connection, withConnection } from "./connection.ts";
import { provideDemoNotes } from "./demo_notes.ts";
import { type Pictures, takeDemoPictures } from "./demo_pictures.ts";
import { DEMO_PROJECT, provideDemoProject } from "./demo_project.ts";
import { provideDemoAlerts } from "./demo_alerts.ts";
import { forEachInFlight, sendBatch, withTemporaryKey } from "./event_sender.ts";
import { createProgress } from "./progress.ts";
import { counted, grouped, nounOf } from "../number_words.ts";

const REQUESTS_AT_ONCE = 16;
const HOUR_MS = 3_600_000;
/** Enough for thirty days, the thirty before them, and the weekdays that insights compare with. */
const WEEKS_DEFAULT = 9;
const WEEKS_MAX = 104;
const VISITORS_DEFAULT = 3_000;
const VISITORS_MAX = 1_000_000;
const SEED_MAX = 2 ** 31;
/** The most reads in a row that find no fewer events pending than the read before. */
const STANDSTILLS_MAX = 20;

interface Summary {
  readonly project: string;
  readonly events: number;
  readonly duplicates: number;
  readonly visitors: number;
  readonly seconds: number;
  readonly eventsPerSecond: number;
  /** Null: no pictures were requested. */
  readonly pictures: Pictures | null;
}

/** Yields the shop's history, and the current visitors unless the history ends at a given time. */
function* batchesOf(call: Call, options: DemoOptions): Generator<DemoBatch> {
  const demo = demoEvents(options);
  yield* demo.batches();
  if (call.options.text("until") !== null) return;
  const nowMs = call.now();
  for (const visit of presentVisits(SHOP_ORIGIN, nowMs)) {
    const { address, userAgent } = visit;
    const events = partedAt(visit, nowMs).past;
    yield { address, userAgent, events, visitorsDone: demo.visitors };
  }
}

/**
 * Returns the end of the history: the start of the current hour by default, so that runs within an hour make
 * the same events.
 */
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

async function sendDemo(
  call: Call,
  connection: Connection,
  project: string,
  options: DemoOptions,
): Promise<Omit<Summary, "pictures">> {
  const { visitors } = demoEvents(options);
  const startedAt = call.now();
  const total = { events: 0, duplicates: 0, visitors: 0 };
  const progress = createProgress(call.print, "Seeding", visitors, call.now);
  const send = (key: string) => async ({ address, userAgent, events, visitorsDone }: DemoBatch) => {
    const body = JSON.stringify({ events });
    const outcome = await sendBatch(connection, key, { address, userAgent }, body, call.signal);
    total.events += outcome.accepted;
    total.duplicates += outcome.duplicates;
    total.visitors = Math.max(total.visitors, visitorsDone);
    progress.update(total.visitors, counted(total.events, "event"));
  };
  try {
    await withTemporaryKey(
      connection,
      project,
      "footfall seed",
      startedAt,
      (key) => forEachInFlight(batchesOf(call, options), REQUESTS_AT_ONCE, send(key)),
    );
  } finally {
    progress.end();
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
 * Repeats a read until all events are counted, so that the dashboard shows them at once: each read counts
 * pending events for a while before it is answered. If their number stays the same for STANDSTILLS_MAX reads,
 * the rest is left to the server.
 */
async function awaitCounted(
  call: Call,
  connection: Connection,
  { project, events }: { readonly project: string; readonly events: number },
): Promise<void> {
  const progress = createProgress(call.print, "Counting", events, call.now);
  const path = `/v1/live?project=${encodeURIComponent(project)}`;
  try {
    let before = Infinity;
    for (let standstills = 0; standstills < STANDSTILLS_MAX;) {
      call.signal.throwIfAborted();
      const { pending } = await callApi<{ pending: number }>(connection, "GET", path);
      if (pending === 0) return;
      progress.update(Math.max(0, events - pending), "");
      standstills = pending < before ? 0 : standstills + 1;
      before = pending;
    }
  } finally {
    progress.end();
  }
}

function summaryText(summary: Summary): string {
  const { project, events, seconds } = summary;
  const visitors = counted(summary.visitors, "visitor");
  const before = `${grouped(summary.duplicates)} there before`;
  return `${counted(events, "event")} of ${visitors} ${
    nounOf(events, "is", "are")
  } in ${project} ` +
    `(${before}): ${seconds} s, ${grouped(summary.eventsPerSecond)} events/s.\n`;
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
    const named = options.text("project");
    const project = named ?? await provideDemoProject(connection);
    const sent = await sendDemo(call, connection, project, demo);
    if (named === null) await provideDemoNotes(connection, project, demo.untilMs);
    await awaitCounted(call, connection, sent);
    if (named === null) await provideDemoAlerts(connection, project);
    const wantsPictures = named === null && !options.flag("no-pictures");
    const pictures = wantsPictures ? await takeDemoPictures(call, connection, project) : null;
    return { ...sent, pictures };
    // Without a running server this process takes the pictures.
  }, (app) => app.startCaptures());
  print.result(summary, () => summaryText(summary));
  const { pictures } = summary;
  if (pictures !== null) {
    const { taken, reason } = pictures;
    const text = taken === 0
      ? "No capture of its pages is"
      : `${counted(taken, "capture")} of its pages ${nounOf(taken, "is", "are")}`;
    print.remark(`${text} behind the heat maps.${reason === null ? "" : ` ${reason}`}`);
  }
  print.remark(
    `\nNext: reload the dashboard and choose this project. If you are not signed in:\n\n` +
      `  ${call.config.footfallHere} token --link --project ${summary.project}\n` +
      `  ${call.config.footfallHere} export --project ${summary.project} --from ` +
      `${new Date(demo.untilMs).toISOString().slice(0, 10)}`,
  );
}

export const SEED_COMMAND: Command = {
  name: "seed",
  summary: "Fill a project with a demo shop's visitors",
  usage: "footfall seed [options]",
  notes:
    "The same options make the same events, so a repeated run stores nothing twice, and a later\n" +
    "one adds what would have happened since. Where there is a browser, the shop's pages are\n" +
    "captured for the heat maps.",
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
      meaning: "no event lies at or after it; without it, somebody is there now",
    },
    "no-pictures": {
      type: "boolean",
      meaning: "leave the captures of the shop's pages out",
    },
  },
  example: "footfall seed --weeks 12 --visitors 10000",
  run: seed,
};
