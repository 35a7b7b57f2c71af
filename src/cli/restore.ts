import { eventsOf, type Frame, rowsOf } from "../archive/archive_format.ts";
import { areSame, type Figures, NOTHING } from "../archive/figures.ts";
import type { PlannedProject } from "../archive/restore_plan.ts";
import type { RestoredEvents } from "../archive/restored_events.ts";
import type { RestoredRows } from "../archive/restored_rows.ts";
import { NO_PROJECT } from "../archive/stored_rows.ts";
import { eventCount, rowCounts, shownDamage } from "./archive.ts";
import { checkArchive, type CheckedArchive, framesOf } from "./archive_file.ts";
import { type Call, type Command, UsageMistake } from "./command.ts";
import { callApi, type Connection, RequestRefused, withConnection } from "./connection.ts";
import { forEachInFlight } from "./event_sender.ts";
import { storedFigures } from "./figures_reading.ts";
import { postFrame } from "./frame_sender.ts";
import { createProgress } from "./progress.ts";
import { printable } from "./terminal.ts";
import { counted, grouped, nounOf } from "../number_words.ts";

/** Blocks of events that are under way at once: one is stored while the next is decoded. */
const BLOCKS_AT_ONCE = 3;
const LEFT_SHOWN = 20;
const FAILED = 1;

/** Counts what has been stored so far. */
class RestoreCounts {
  stored = 0;
  known = 0;
  added = 0;
  same = 0;
  readonly left: RestoredRows["left"] = [];
}

const FOUND: Readonly<Record<PlannedProject["found"], string>> = {
  nothing: "is made",
  empty: "has no event: it takes the archive's settings",
  begun: "was begun by an earlier run of this archive, which goes on",
};

async function plan(
  call: Call,
  connection: Connection,
  { head }: CheckedArchive,
  dryRun: boolean,
): Promise<readonly PlannedProject[]> {
  const as = call.options.text("project");
  if (as !== null && head.projects.length !== 1) {
    throw new UsageMistake(
      `--project gives one project another id, and the archive holds ${head.projects.length}.`,
    );
  }
  const projects = head.projects.map(({ id }) => ({ id, as: as ?? id }));
  const body = { archive: head.id, schema: head.schema, projects, dryRun };
  const path = "/v1/restorations";
  try {
    return (await callApi<{ projects: PlannedProject[] }>(connection, "POST", path, body)).projects;
  } catch (error) {
    // The user typed the option, which became this member of the body.
    const [mistake] = error instanceof RequestRefused ? error.errors : [];
    if (as === null || mistake?.field !== "projects.0.as") throw error;
    throw new UsageMistake(`--project: ${mistake.message}`);
  }
}

async function restoreRows(
  connection: Connection,
  archive: string,
  frame: Frame,
  idOf: (id: string) => string,
  counts: RestoreCounts,
  signal: AbortSignal,
): Promise<void> {
  const { of } = rowsOf(frame);
  const query = { archive, kind: "rows", ...of === NO_PROJECT ? {} : { project: idOf(of) } };
  const done = await postFrame<RestoredRows>(connection, query, frame.content, signal);
  counts.added += done.added;
  counts.same += done.same;
  counts.left.push(...done.left);
}

async function restoreEvents(
  connection: Connection,
  archive: string,
  frame: Frame,
  idOf: (id: string) => string,
  counts: RestoreCounts,
  signal: AbortSignal,
): Promise<void> {
  const { project, block } = eventsOf(frame);
  const query = { archive, kind: "events", project: idOf(project) };
  const done = await postFrame<RestoredEvents>(connection, query, block, signal);
  counts.stored += done.stored;
  counts.known += done.known;
}

/**
 * Returns the error that stopped a restore, with advice if the database does not answer: it may have ended
 * on a full disk.
 */
function stoppedBy(error: unknown): unknown {
  if (!(error instanceof RequestRefused) || error.code !== "database_unavailable") return error;
  const advice = "See that the database runs, and has room for its tables and its log; then run " +
    "the same command again: it goes on where it was.";
  return new RequestRefused(error.status, error.code, `${error.message} ${advice}`, error.errors);
}

async function sendAll(
  call: Call,
  connection: Connection,
  path: string,
  checked: CheckedArchive,
  planned: readonly PlannedProject[],
): Promise<RestoreCounts> {
  const { print, now, signal } = call;
  const asOf = new Map(planned.map(({ id, as }) => [id, as]));
  const idOf = (id: string) => asOf.get(id) ?? id;
  const { id } = checked.head;
  const counts = new RestoreCounts();
  const progress = createProgress(print, "Restoring", checked.bytes, now);
  try {
    // Rows refer to earlier rows, so each frame of them is stored before the next frame is sent.
    const inOrder = async function* () {
      for await (const frame of framesOf(path, signal)) {
        if (frame.kind === "rows") await restoreRows(connection, id, frame, idOf, counts, signal);
        else if (frame.kind === "events") yield frame;
      }
    };
    await forEachInFlight(inOrder(), BLOCKS_AT_ONCE, async (frame) => {
      await restoreEvents(connection, id, frame, idOf, counts, signal);
      progress.update(frame.at, counted(counts.stored + counts.known, "event"));
    });
  } catch (error) {
    progress.end();
    const restored = grouped(counts.stored + counts.known);
    const all = counted(eventCount(checked.manifest), "event");
    print.remark(
      `Stopped: ${restored} of ${all} restored. Run the same command again to go on; nothing is ` +
        "stored twice.",
    );
    throw stoppedBy(error);
  }
  progress.end();
  return counts;
}

/** How the stored events of a project compare with those of the archive. */
interface Compared {
  readonly project: string;
  readonly archived: Figures;
  readonly stored: Figures;
  /** `more`: other events are stored, too; `other`: the stored events are not those of the archive. */
  readonly verdict: "same" | "more" | "other";
}

async function compare(
  call: Call,
  connection: Connection,
  { manifest }: CheckedArchive,
  planned: readonly PlannedProject[],
): Promise<Compared[]> {
  const compared: Compared[] = [];
  for (const { id, as } of planned) {
    const archived = manifest.events[id] ?? NOTHING;
    const { figures } = await storedFigures(call, connection, as);
    const stored = figures[as] ?? NOTHING;
    const verdict = areSame(archived, stored)
      ? "same"
      : stored.count > archived.count
      ? "more"
      : "other";
    compared.push({ project: as, archived, stored, verdict });
  }
  return compared;
}

function shownComparison({ project, archived, stored, verdict }: Compared): string {
  switch (verdict) {
    case "same":
      return `${project}: ${counted(stored.count, "event")}, count and digest as in the archive.\n`;
    case "more":
      return `${project}: ${counted(archived.count, "event")} of the archive ` +
        `${nounOf(archived.count, "is", "are")} there by id, ` +
        `beside ${counted(stored.count - archived.count, "other")}.\n`;
    case "other":
      return `${project}: the stored events are not those of the archive ` +
        `(${counted(stored.count, "is", "are")} there, ${
          grouped(archived.count)
        } in the archive).\n`;
  }
}

function shownLeft(left: RestoredRows["left"]): string {
  const lines = left.slice(0, LEFT_SHOWN)
    .map(({ table, row, why }) => `  ${table}: ${printable(row)}: ${why}\n`);
  const more = left.length > LEFT_SHOWN ? `  and ${grouped(left.length - LEFT_SHOWN)} more\n` : "";
  return left.length === 0 ? "" : `Not restored:\n${lines.join("")}${more}`;
}

async function dryRun(call: Call, checked: CheckedArchive): Promise<void> {
  const projects = await withConnection(
    call,
    (connection) => plan(call, connection, checked, true),
  );
  const { head, manifest } = checked;
  const events = eventCount(manifest);
  const rows = rowCounts(manifest);
  const rowTexts = Object.entries(rows).map(([table, count]) => `${table} ${grouped(count)}`);
  call.print.result(
    {
      dryRun: true,
      archive: head.id,
      madeAt: head.madeAt,
      projects,
      events,
      rows,
      damaged: manifest.damaged ?? [],
    },
    () =>
      `Made ${head.madeAt} by Footfall ${head.footfall}; whole and undamaged.\n` +
      projects.map(({ as, found }) => `${as} ${FOUND[found]}.\n`).join("") +
      `${counted(events, "event")}; ${rowTexts.join(", ")}.\n` +
      `${shownDamage(manifest)}Nothing was stored.\n`,
  );
}

async function restore(call: Call): Promise<number> {
  const [path] = call.words;
  if (path === undefined) throw new UsageMistake("Say which FILE to restore.");
  const checked = await checkArchive(call, path);
  if (call.options.flag("dry-run")) {
    await dryRun(call, checked);
    return 0;
  }
  const { counts, compared } = await withConnection(call, async (connection) => {
    const planned = await plan(call, connection, checked, false);
    const counts = await sendAll(call, connection, path, checked, planned);
    return { counts, compared: await compare(call, connection, checked, planned) };
  });
  const { stored, known, added, same, left } = counts;
  call.print.result(
    { archive: checked.head.id, events: { stored, known }, rows: { added, same, left }, compared },
    () =>
      `${counted(stored, "event")} restored (${grouped(known)} there before), ` +
      `${counted(added, "other row")} (${grouped(same)} there before).\n` +
      compared.map(shownComparison).join("") + shownLeft(left),
  );
  return compared.some(({ verdict }) => verdict === "other") ? FAILED : 0;
}

export const RESTORE_COMMAND: Command = {
  name: "restore",
  summary: "Bring back what an archive holds",
  usage: "footfall restore FILE [options]",
  notes:
    "The whole file is checked first: one that is damaged or cut short is refused with the byte, and\n" +
    "nothing is stored. A project is made, or, where one of its id has no event, takes the archive's\n" +
    "settings; one that has events is refused: --project restores beside it. Of everything else, what\n" +
    "is there already stays (a person of the same e-mail address, a key, a share), and the row of the\n" +
    "archive is named. After a stop, the same command goes on; each event is stored once. At the end,\n" +
    "count and digest of the stored events are compared with the archive's.",
  wordsMax: 1,
  options: {
    project: {
      type: "string",
      placeholder: "NEW_ID",
      default: "as in the archive",
      meaning: "id that the archive's only project gets",
    },
    "dry-run": { type: "boolean", meaning: "check the file and say what would be done" },
  },
  example: "footfall restore backup.footfall --dry-run",
  run: restore,
};
