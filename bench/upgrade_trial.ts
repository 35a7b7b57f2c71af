/**
 * `deno task upgrade:trial [--against COMMIT] [--events N] [--kills N] [--engine E] [--bulk N]`
 *
 * An upgrade from an earlier commit, for real: its server makes the data, then this program starts on
 * them and is killed as it starts, and then in the middle of the move as often as is asked, while
 * events are sent, some of them replays of stored ones. At the end each event must be there once with
 * every member as it was, no replay may have been taken for new, and reads must answer as before. With
 * `--bulk` a further project of so many events is written into the earlier tables (PostgreSQL), of which
 * count and sum are compared.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { freshDatabase, startPostgres } from "../tests/support/throwaway_postgres.ts";
import { openCheckout } from "./checkout.ts";
import { machineLine } from "./process_figures.ts";
import { type Answers, askedReads, changedAnswers, readAnswers } from "./upgrade/asked_reads.ts";
import { type EarlierProject, makeEarlierData, sendBatch } from "./upgrade/earlier_program.ts";
import { Kills } from "./upgrade/kills.ts";
import { freePort, operatorToken, pause, type Place, Program } from "./upgrade/program.ts";
import { readStored, type StoredEvents } from "./upgrade/stored_events.ts";
import { UpgradeData } from "./upgrade/upgrade_data.ts";
import { freshEvent } from "./upgrade/varied_events.ts";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const DAY_MS = 86_400_000;
/** Texts of more events than these are not kept in memory: their count and sum are compared. */
const TEXTS_MAX = 300_000;
const FRESH_BATCH = 20;
const SEND_PAUSE_MS = 15;
const LOOK_MS = 1_000;
/** Of a larger bulk no reads are compared: the earlier program counts some thousand events a second. */
const BULK_READ_MAX = 100_000;
const BULK = "prj_bulk";

interface Told {
  readonly events: StoredEvents;
  readonly answers: Answers;
}

/** What is sent while the upgrade goes on. */
class Sending {
  readonly fresh = new Map<string, number>();
  replays = 0;
  taken = 0;
  #isOver = false;
  #done: Promise<void>;

  constructor(readonly place: Place, readonly projects: readonly EarlierProject[]) {
    this.#done = this.#send();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  async #send(): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const project = this.projects[turn % this.projects.length]!;
      if (turn % 3 === 0) {
        const events = Array.from(
          { length: FRESH_BATCH },
          (_, i) => freshEvent(turn * FRESH_BATCH + i),
        );
        for (const { eventId, properties } of events) this.fresh.set(eventId, properties.n);
        await sendBatch(this.place, project, { headers: {}, isOfBackend: false, events });
      } else {
        const batch = project.batches[Math.floor(Math.random() * project.batches.length)]!;
        this.replays += batch.events.length;
        this.taken += batch.events.length - await sendBatch(this.place, project, batch);
      }
      await pause(SEND_PAUSE_MS);
    }
  }
}

/** Fills a project of the earlier tables by SQL, with that commit's own maker of histories. */
async function fillBulk(folder: string, place: Place, events: number, endMs: number) {
  const code = `
    import { openBench } from "./bench/configured_cluster.ts";
    import { foldHistory, storeHistory } from "./bench/read_history.ts";
    const sql = openBench(${JSON.stringify(place.databaseUrl)});
    const [{ project_id }] = await sql.query(
      "INSERT INTO projects (public_id, name) VALUES ('${BULK}', 'Bulk') RETURNING project_id");
    await storeHistory(sql, { events: ${events}, days: 60, endMs: ${endMs}, projectId: project_id });
    if (${events <= BULK_READ_MAX}) await foldHistory(sql, project_id);
    await sql.close();`;
  const file = join(folder, "fill_bulk.ts");
  await Deno.writeTextFile(file, code);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", file],
    cwd: folder,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("the bulk was not stored");
}

interface Order {
  readonly events: number;
  readonly bulk: number;
  readonly kills: number;
}

class Trial {
  readonly #ids: string[];
  /** What was found wrong. */
  readonly faults: string[] = [];

  constructor(readonly earlier: string, readonly place: Place, readonly order: Order) {
    this.#ids = ["prj_trial_0", "prj_trial_1", "prj_demo", ...order.bulk > 0 ? [BULK] : []];
  }

  async run(): Promise<string[]> {
    const endMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - 2 * DAY_MS;
    const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    const reads = askedReads(day(endMs - 30 * DAY_MS), day(endMs - DAY_MS));
    const startedAt = performance.now();
    const projects = await makeEarlierData(this.earlier, this.place, this.order.events, endMs);
    if (this.order.bulk > 0) {
      await fillBulk(this.earlier, this.place, this.order.bulk, endMs);
    }
    const before = await this.#tell(this.earlier, reads, new Set());
    const events = before.values().reduce((sum, { events }) => sum + events.count, 0);
    const data = new UpgradeData(this.place, events);
    const bytesBefore = await data.bytes();
    console.error(`  ${events} events were made in ${seconds(startedAt)} s`);
    const stored = projects.map((project) => storedOf(project, before.get(project.id)!.events));
    const sending = new Sending(this.place, stored);
    const upgrade = await this.#upgrade(data, sending);
    const after = await this.#tell(REPOSITORY, reads, new Set(sending.fresh.keys()));
    this.#compare(before, after, sending);
    return [
      `${events} events stored before; ${sending.fresh.size} new ones meanwhile, each there once; ` +
      `${sending.replays} replays, ${sending.taken} of them taken for new`,
      `kills, by how far the upgrade was: ${upgrade.kills.told.join(", ")}`,
      `upgrade: ${upgrade.seconds.toFixed(1)} s until the earlier table was dropped, ` +
      `${Math.round(events / upgrade.seconds)} events/s, starts and kills included`,
      `most memory of the server: ${mebibytes(upgrade.peakBytes)} MiB; data ` +
      `${mebibytes(bytesBefore)} MiB before, at most ${mebibytes(upgrade.largestBytes)} MiB, ` +
      `${mebibytes(await data.bytes())} MiB after`,
      `warnings: ${JSON.stringify(Object.fromEntries(upgrade.warnings))}`,
      ...this.faults,
    ];
  }

  /** All that the program of a folder gives of each project. */
  async #tell(folder: string, reads: readonly string[], leftOut: ReadonlySet<string>) {
    const token = await operatorToken();
    const server = new Program(folder, this.place);
    await server.ready();
    const told = new Map<string, Told>();
    for (const id of this.#ids) {
      const isLarge = id === BULK && this.order.bulk > TEXTS_MAX;
      const asksReads = id !== BULK || this.order.bulk <= BULK_READ_MAX;
      try {
        told.set(id, {
          answers: asksReads ? await readAnswers(this.place, token, id, reads) : new Map(),
          events: await readStored(this.place, token, id, !isLarge, leftOut),
        });
      } catch (error) {
        throw await server.blamed(error);
      }
    }
    await server.end("SIGTERM");
    return told;
  }

  /** Starts the program again and again, until the upgrade is done. */
  async #upgrade(data: UpgradeData, sending: Sending) {
    const startedAt = performance.now();
    const kills = new Kills(data, this.order.kills);
    const warnings = new Map<string, number>();
    let peakBytes = 0;
    let largestBytes = 0;
    for (let isDone = false; !isDone;) {
      const server = new Program(REPOSITORY, this.place);
      const isKilled = !kills.areOver;
      if (isKilled) await kills.due(server);
      else {
        await this.#untilDone(data, server);
        // What is under way is answered while there is a server.
        await sending.end();
      }
      peakBytes = Math.max(peakBytes, server.peakBytes);
      await server.end(isKilled ? "SIGKILL" : "SIGTERM");
      for (const [text, n] of server.warnings) warnings.set(text, (warnings.get(text) ?? 0) + n);
      largestBytes = Math.max(largestBytes, await data.bytes());
      if (isKilled) console.error(`  killed at ${await kills.note()}`);
      else isDone = await data.left() === null;
    }
    if (kills.inside < kills.wanted) {
      this.faults.push(`FAULT: ${kills.inside} of ${kills.wanted} kills fell inside the move`);
    }
    return {
      seconds: (performance.now() - startedAt) / 1000,
      kills,
      warnings,
      peakBytes,
      largestBytes,
    };
  }

  /** The embedded database shows that it is so only once the server has ended: it is given time. */
  async #untilDone(data: UpgradeData, server: Program): Promise<void> {
    await server.ready();
    if (this.place.databaseUrl === null) {
      const token = await operatorToken();
      for (const id of this.#ids) {
        await readAnswers(this.place, token, id, ["kpis?bots=include"]);
      }
      for (let calm = 0; calm < 5; calm++) await pause(LOOK_MS);
      return;
    }
    while (await data.left() !== null) await pause(LOOK_MS);
  }

  #compare(before: Map<string, Told>, after: Map<string, Told>, sending: Sending): void {
    if (sending.taken > 0) this.faults.push(`FAULT: ${sending.taken} replays were taken for new`);
    const found = new Map<string, string>();
    for (const [id, { events, answers }] of before) {
      const now = after.get(id)!;
      if (events.count !== now.events.count || events.sum !== now.events.sum) {
        this.faults.push(
          `FAULT: ${id}: ${events.count} events before, ${now.events.count} after, or others`,
          ...changedEvents(events.texts, now.events.texts),
        );
      }
      if (now.events.repeated > 0) this.faults.push(`FAULT: ${now.events.repeated} events twice`);
      for (const eventId of sending.fresh.keys()) {
        const text = now.events.texts.get(eventId);
        if (text !== undefined) found.set(eventId, text);
      }
      const changed = changedAnswers(answers, now.answers);
      this.faults.push(
        `${id}: ${answers.size - changed.size} of ${answers.size} reads answer as before`,
      );
      for (const [read, places] of changed) {
        this.faults.push(
          `  ${decodeURIComponent(read)}`,
          ...places.map((place) => `    ${place}`),
        );
      }
    }
    for (const [eventId, n] of sending.fresh) {
      const isThere = found.get(eventId)?.includes(`"n":${n}`);
      if (isThere !== true) this.faults.push(`FAULT: the new event ${eventId} is not there`);
    }
  }
}

/** A project with those batches alone that are stored whole: who was erased may come again. */
function storedOf(project: EarlierProject, { texts }: StoredEvents): EarlierProject {
  const isStored = ({ eventId }: { readonly eventId: string }) => texts.has(eventId);
  return { ...project, batches: project.batches.filter(({ events }) => events.every(isStored)) };
}

/** The first few events that are not as they were. */
function changedEvents(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  return before.entries().filter(([id, text]) => after.get(id) !== text).take(5)
    .map(([id, text]) => `    ${text}\n    → ${after.get(id)}`).toArray();
}

const seconds = (sinceMs: number): string => ((performance.now() - sinceMs) / 1000).toFixed(1);
const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);

const { values } = parseArgs({
  options: {
    against: { type: "string", default: "0b9847a" },
    events: { type: "string", default: "20000" },
    bulk: { type: "string", default: "0" },
    kills: { type: "string", default: "10" },
    engine: { type: "string", default: "both" },
  },
});
const folder = await Deno.makeTempDir({ prefix: "footfall-upgrade-" });
const order = {
  events: Number(values.events),
  bulk: Number(values.bulk),
  kills: Number(values.kills),
};
let isWhole = true;
try {
  await using checkout = await openCheckout(REPOSITORY, values.against, folder);
  for (const engine of values.engine === "both" ? ["postgres", "embedded"] : [values.engine]) {
    const cluster = engine === "postgres" ? await startPostgres() : null;
    const databaseUrl = cluster === null ? null : (await freshDatabase(cluster)).url;
    const place = {
      databaseUrl,
      dataDir: await Deno.makeTempDir({ dir: folder }),
      port: await freePort(),
    };
    try {
      const bulk = cluster === null ? 0 : order.bulk;
      const trial = new Trial(checkout.folder, place, { ...order, bulk });
      const lines = await trial.run();
      isWhole &&= !lines.some((line) => line.startsWith("FAULT"));
      console.log([`${engine} (${machineLine("")})`, ...lines].join("\n  "));
    } finally {
      await cluster?.remove();
    }
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
if (!isWhole) Deno.exit(1);
