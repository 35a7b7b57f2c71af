import {
  type ArchiveHead,
  type ArchiveManifest,
  eventsOf,
  type Frame,
  jsonOf,
  readFrames,
  rowsOf,
} from "../archive/archive_format.ts";
import { MOVE_PAUSE_EVENTS_MAX, MOVE_RENEWED_MS } from "../archive/archive_limits.ts";
import { areSame, type Figures, NOTHING, Sums } from "../archive/figures.ts";
import { countEvents, NOT_COMPARED } from "../archive/move_endpoints.ts";
import {
  clearPictures,
  clearRows,
  closeTarget,
  copyRows,
  emptyTarget,
  openTarget,
  targetProjects,
} from "../archive/move_target.ts";
import { readFigures, readRowFigures } from "../archive/read_figures.ts";
import { restoreEvents } from "../archive/restored_events.ts";
import { withTargetErrors } from "../archive/target_errors.ts";
import { TargetRefused } from "../archive/target_refused.ts";
import { LOCK_PATIENCE, waitWords } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { type Database, DatabaseUnavailable } from "../db/sql.ts";
import { postgresTarget } from "../postgres_url.ts";
import { type Call, type Command, UsageMistake } from "./command.ts";
import { callApi, type Connection, refusalOf, withConnection } from "./connection.ts";
import { forEachInFlight } from "./event_sender.ts";
import { createProgress } from "./progress.ts";
import { untilBroken } from "./reply_body.ts";
import { counted } from "../number_words.ts";

const CONNECTIONS = 4;
/** The time limit of one statement; a comparison takes longer, but consists of many short statements. */
const STATEMENT_MS_MAX = 60_000;
const BLOCKS_AT_ONCE = 3;
/** At the second attempt at the latest, rows agree: nothing changes during the pause. */
const ROW_TRIES_MAX = 3;

interface MoveReply {
  readonly status: string;
  readonly source: string | null;
  readonly to: string | null;
}

type Action = "begin" | "pause" | "cancel" | "complete";

/** One run of a move: copies the source to the target step by step. */
class Move {
  /** The sums of the source's events so far, by project. */
  #sums = new Sums();
  #journalId = 0;
  events = 0;

  constructor(readonly call: Call, readonly source: Connection, readonly target: Database) {}

  /** Reports the next step to the server. */
  async report(action: Action, to?: string): Promise<MoveReply> {
    const body = to === undefined ? { action } : { action, to };
    return await callApi<MoveReply>(this.source, "POST", "/v1/move", body);
  }

  async *#frames(query: Record<string, string>): AsyncGenerator<Frame> {
    const { signal } = this.call;
    const path = `/v1/archive?${new URLSearchParams({ secrets: "1", ...query })}`;
    const reply = await this.source.fetch(path, { signal });
    if (!reply.ok) throw await refusalOf(reply);
    yield* readFrames(untilBroken(reply.body!, signal, "The copy"));
  }

  /** Copies one part of an archive. @returns its manifest */
  async #copy(query: Record<string, string>, label: string): Promise<ArchiveManifest> {
    const { print, now, signal } = this.call;
    let manifest: ArchiveManifest | null = null;
    let progress = createProgress(print, label, null, now);
    let events = 0;
    const projects = await targetProjects(this.target);
    const inOrder = async function* (frames: AsyncIterable<Frame>, target: Database) {
      for await (const frame of frames) {
        signal.throwIfAborted();
        if (frame.kind === "events") yield frame;
        else if (frame.kind === "manifest") manifest = jsonOf<ArchiveManifest>(frame);
        else if (frame.kind === "head") {
          const { events } = jsonOf<ArchiveHead>(frame);
          progress = createProgress(print, label, events === 0 ? null : events, now);
        } else {
          const rows = rowsOf(frame);
          await copyRows(target, rows);
          if (rows.table !== "projects") continue;
          for (const [id, projectId] of await targetProjects(target)) projects.set(id, projectId);
        }
      }
    };
    try {
      await forEachInFlight(
        inOrder(this.#frames(query), this.target),
        BLOCKS_AT_ONCE,
        async (frame) => {
          const { project, block, events: own } = eventsOf(frame);
          await restoreEvents(this.target, projects.get(project)!, block);
          events += own;
          progress.update(events, counted(events, "event"));
        },
      );
    } finally {
      progress.end();
    }
    return manifest!;
  }

  /** Adds the events of a copied part to those of the source so far. @returns how many they are */
  #note({ events, journalId }: ArchiveManifest): number {
    let count = 0;
    for (const [id, figures] of Object.entries(events)) {
      this.#sums.of(id).addAll(figures);
      count += figures.count;
    }
    this.#journalId = journalId;
    this.events += count;
    return count;
  }

  /** Copies everything that is stored by now. */
  async copyAll(): Promise<void> {
    this.#sums = new Sums();
    this.events = 0;
    this.#note(await this.#copy({}, "Copying"));
  }

  /** Copies the events stored since the last copy. @returns how many they are */
  async follow(): Promise<number> {
    return this.#note(await this.#copy({ since: String(this.#journalId) }, "Following"));
  }

  /** Follows until at most MOVE_PAUSE_EVENTS_MAX events are left, or no fewer than the last time. */
  async followUp(): Promise<void> {
    for (let last = Infinity;;) {
      const events = await this.follow();
      if (events <= MOVE_PAUSE_EVENTS_MAX || events >= last) return;
      last = events;
    }
  }

  /** Whether the target has exactly the events of the source. Reads all of the target's. */
  async isSame(): Promise<boolean> {
    const { print, now, signal } = this.call;
    let progress: ReturnType<typeof createProgress> | null = null;
    try {
      for await (const line of await readFigures(this.target, null)) {
        signal.throwIfAborted();
        if ("figures" in line) return isAllSame(line.figures, this.#sums.figures);
        if ("failure" in line) throw new Error(`At the target: ${line.failure}`);
        progress ??= createProgress(print, "Comparing", line.of, now);
        progress.update(line.events, counted(line.events, "event"));
      }
    } finally {
      progress?.end();
    }
    return false;
  }

  /** During the pause, copies everything but events, and compares it and the numbers of events. */
  async copyRows(): Promise<void> {
    for (let attempt = 1; attempt <= ROW_TRIES_MAX; attempt++) {
      await clearRows(this.target);
      await this.#copy({ part: "rows" }, "Settings and people");
      const path = "/v1/move/rows";
      const source = await callApi<{
        rows: Record<string, Record<string, Figures>>;
        events: Record<string, number>;
      }>(this.source, "GET", path);
      const events = await countEvents(this.target);
      if (JSON.stringify(events) !== JSON.stringify(source.events)) {
        throw new Error("The target does not have the events of the source. Run it again.");
      }
      const rows = await readRowFigures(this.target, true, NOT_COMPARED);
      const other = Object.keys(source.rows)
        .filter((table) => !isAllSame(rows[table] ?? {}, source.rows[table]!));
      if (other.length === 0) return;
      if (attempt === ROW_TRIES_MAX) {
        throw new Error(`The target's ${other.join(", ")} are not the source's. Run it again.`);
      }
      if (other.includes("captures")) {
        await clearPictures(this.target);
        await this.#copy({ part: "pictures" }, "Pictures");
      }
    }
  }
}

function isAllSame(
  found: Readonly<Record<string, Figures>>,
  wanted: Readonly<Record<string, Figures>>,
): boolean {
  const ids = new Set([...Object.keys(found), ...Object.keys(wanted)]);
  return [...ids].every((id) => areSame(found[id] ?? NOTHING, wanted[id] ?? NOTHING));
}

/** Returns the address without user, password and parameters. */
function shownAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function targetOf(call: Call): string {
  const to = call.options.text("to");
  if (to === null) {
    throw new UsageMistake("Say where to: --to postgres://user:password@host/database.");
  }
  try {
    postgresTarget(to);
  } catch (error) {
    throw new UsageMistake(`--to ${(error as Error).message}.`);
  }
  if (call.config.databaseUrl !== null) {
    throw new UsageMistake(
      "This server has PostgreSQL (DATABASE_URL): it is the embedded database that is moved.",
    );
  }
  return to;
}

/** Copies while the server works, until the target has nearly all events of the source. */
async function copyAlong(move: Move): Promise<void> {
  for (let attempt = 1;; attempt++) {
    await move.copyAll();
    await move.followUp();
    if (await move.isSame()) return;
    // An earlier run may have copied events that were erased or have expired since.
    if (attempt === 2) {
      throw new Error("The target's events are not those of the source. Run it again.");
    }
    await emptyTarget(move.target);
  }
}

/** Takes the last step: afterwards a server may start on the target. */
async function finish(target: Database, to: string): Promise<void> {
  try {
    await closeTarget(target);
  } catch (cause) {
    if (!(cause instanceof TargetRefused)) throw cause;
    throw new TargetRefused(
      `Everything is at ${to}, and this server has moved; a note that says so is still missing there, ` +
        "as the database does not take it. Run the same command once more, and start the new server then.",
      { cause },
    );
  }
}

/**
 * Returns the error for a server that has moved to another address. Both may be addresses of one database, which
 * only the user knows.
 */
function movedElsewhere(there: string, to: string): TargetRefused {
  return new TargetRefused(
    `The server has moved to ${there} already, not to ${to}. If both are one database, type its address ` +
      `as it was: --to ${there} (with the user and the password).`,
  );
}

/** How many events were moved, and how long the server accepted none. */
interface Moved {
  readonly events: number;
  readonly pausedMs: number;
}

async function moveAll(
  call: Call,
  source: Connection,
  target: Database,
  to: string,
): Promise<Moved> {
  const move = new Move(call, source, target);
  // An earlier run may have left the server paused: it resumes while everything is copied again.
  await move.report("cancel");
  const begun = await move.report("begin");
  const renewing = setInterval(
    () => void move.report(isPaused ? "pause" : "begin").catch(() => {}),
    MOVE_RENEWED_MS,
  );
  let isPaused = false;
  try {
    await openTarget(target, begun.source!, {
      ...LOCK_PATIENCE,
      onWait: (wait) => call.log.warn(...waitWords(wait)),
    });
    await copyAlong(move);
    await move.followUp();
    const pausedAt = call.now();
    isPaused = true;
    await move.report("pause");
    await move.follow();
    await move.copyRows();
    clearInterval(renewing);
    await move.report("complete", to);
    await finish(target, to);
    return { events: move.events, pausedMs: call.now() - pausedAt };
  } catch (error) {
    clearInterval(renewing);
    await move.report("cancel").catch(() => {});
    throw error;
  }
}

function movedText({ events, pausedMs }: Moved, to: string): string {
  const all = `${counted(events, "event")} and everything else`;
  const pause = `the pause took ${(pausedMs / 1000).toFixed(1)} s`;
  return `${all} are at ${to}: counts and digests are the same (${pause}).`;
}

async function move(call: Call): Promise<void> {
  const url = targetOf(call);
  const to = shownAddress(url);
  const database = await openDatabase({
    databaseUrl: url,
    dataDir: call.config.dataDir,
    statementTimeoutMs: STATEMENT_MS_MAX,
    connectionsMax: CONNECTIONS,
  });
  const target = withTargetErrors(database, to);
  try {
    await target.ping().catch((error) => {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      throw new TargetRefused(
        `At ${to}: ${error.message}. Check that PostgreSQL runs there, and that --to names it with ` +
          "its user and password.",
      );
    });
    const moved = await withConnection(call, async (source) => {
      const { status, to: there } = await callApi<MoveReply>(source, "GET", "/v1/move");
      if (status !== "moved") return await moveAll(call, source, target, to);
      if (there !== to) throw movedElsewhere(there!, to);
      // An earlier run was stopped just before its last step.
      await finish(target, to);
      return null;
    });
    call.print.result(
      { moved: true, to, ...moved },
      () =>
        `${moved === null ? `The server has moved to ${to} already.` : movedText(moved, to)}\n` +
        `Stop this server now, and start it with DATABASE_URL. Until then it answers 503 moved.\n`,
    );
  } finally {
    await target.close();
  }
}

export const MOVE_COMMAND: Command = {
  name: "move",
  summary: "Move the embedded database to PostgreSQL, while the server works",
  usage: "footfall move --to postgres://…",
  notes:
    "Everything is copied to an empty database: events, people, keys, sessions, secrets. The server\n" +
    "goes on taking events, which follow; erasures wait (503 `moving`). At the end it pauses for some\n" +
    "seconds (503 with Retry-After: clients send again), counts and digests are compared, and it\n" +
    "answers 503 `moved` until it is started with the new DATABASE_URL. The embedded database is left\n" +
    "as it was. Stopped or killed at any moment, the server goes on by itself within 15 seconds, and\n" +
    "the same command continues the move. To stay after all, delete DATA_DIR/moved.json\n" +
    "before anything was sent to the new server, and start the old one again.",
  wordsMax: 0,
  options: {
    to: {
      type: "string",
      placeholder: "URL",
      meaning: "address of an empty PostgreSQL database",
    },
  },
  example: "footfall move --to postgres://footfall:secret@db.internal/footfall",
  run: move,
};
