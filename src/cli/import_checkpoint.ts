/**
 * Remembers from where to resume the import of a file after a stop, in a note beside the file that is written
 * as lines are stored and deleted at the end. A note is used only for the same file and project, and only if
 * the event that it names, the last one, is stored: a database restored from before needs all events again.
 */
import type { Connection } from "./connection.ts";
import { callApi, type ShownProject } from "./connection.ts";
import type { ImportSum } from "./import_lines.ts";
import type { WrittenRefusals } from "./rejected_file.ts";

/** The time between two notes; after a kill, the lines of little more than this are sent again. */
const NOTE_MS = 1_000;

/** The content of a note. */
interface Note extends Omit<ImportSum, "stored"> {
  readonly version: 1;
  readonly import: string;
  readonly project: string;
  readonly projectMade: string;
  readonly fileBytes: number;
  readonly fileChanged: number;
  readonly eventId: string;
  readonly rejectedBytes: number;
  readonly rejectedFile?: string | null;
}

/** An import that an earlier run began. */
export interface BegunImport {
  readonly name: string;
  readonly before: ImportSum;
  readonly refusals: WrittenRefusals;
}

/** A file, and the project that it is imported into. */
export interface ImportedFile {
  readonly path: string;
  readonly project: string;
}

const notePath = (path: string) => `${path}.import.json`;

async function factsOf(connection: Connection, { path, project }: ImportedFile) {
  const { size, mtime } = await Deno.stat(path);
  const id = encodeURIComponent(project);
  const shown = await callApi<ShownProject & { createdAt: string }>(
    connection,
    "GET",
    `/v1/projects/${id}`,
  );
  return {
    project,
    projectMade: shown.createdAt,
    fileBytes: size,
    fileChanged: mtime?.getTime() ?? 0,
  };
}

type Facts = Awaited<ReturnType<typeof factsOf>>;

async function readNote(path: string): Promise<Note | null> {
  try {
    const note = JSON.parse(await Deno.readTextFile(notePath(path)));
    return note?.version === 1 ? note : null;
  } catch {
    return null;
  }
}

/** Whether the event is stored. */
async function isStored(connection: Connection, project: string, eventId: string) {
  const path = `/v1/projects/${encodeURIComponent(project)}/import?dryRun=true`;
  const reply = await connection.fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/x-ndjson" },
    body: JSON.stringify({ eventId }),
  });
  if (reply.ok) return (await reply.json()).duplicates === 1;
  await reply.body?.cancel();
  return false;
}

/** Keeps the note of one import. */
export class ImportCheckpoint {
  #writtenAt = -Infinity;
  #eventId: string;

  private constructor(
    readonly name: string,
    readonly path: string,
    readonly facts: Facts,
    /** Null: the import begins with this run. */
    readonly begun: BegunImport | null,
    eventId: string,
  ) {
    this.#eventId = eventId;
  }

  /** Reads the note, if one of an earlier run can be used. Throws RequestRefused for an unknown project. */
  static async find(connection: Connection, file: ImportedFile): Promise<ImportCheckpoint> {
    const facts = await factsOf(connection, file);
    const note = await readNote(file.path);
    const isSame = note !== null &&
      Object.entries(facts).every(([name, value]) => note[name as keyof Facts] === value);
    if (!isSame || !await isStored(connection, file.project, note.eventId)) {
      return new ImportCheckpoint(crypto.randomUUID(), file.path, facts, null, "");
    }
    const { lines, accepted, duplicates, rejected, number, end, eventId } = note;
    const before = { lines, accepted, duplicates, rejected, number, end, stored: null };
    const refusals = { bytes: note.rejectedBytes, file: note.rejectedFile ?? null };
    const begun = { name: note.import, before, refusals };
    return new ImportCheckpoint(note.import, file.path, facts, begun, eventId);
  }

  /** Writes the note, at most once in NOTE_MS. If it cannot be written, the next run starts over. */
  async note(sum: ImportSum, refusals: WrittenRefusals, nowMs: number): Promise<void> {
    if (nowMs - this.#writtenAt < NOTE_MS) return;
    this.#writtenAt = nowMs;
    await this.write(sum, refusals);
  }

  /** Writes the note now. */
  async write(sum: ImportSum, refusals: WrittenRefusals): Promise<void> {
    const { stored, lines, accepted, duplicates, rejected, number, end } = sum;
    if (stored !== null) this.#eventId = eventIdOf(stored.bytes) ?? this.#eventId;
    if (this.#eventId === "") return;
    const note: Note = {
      version: 1,
      import: this.name,
      ...this.facts,
      lines,
      accepted,
      duplicates,
      rejected,
      number,
      end,
      rejectedBytes: refusals.bytes,
      rejectedFile: refusals.file,
      eventId: this.#eventId,
    };
    const fresh = `${notePath(this.path)}.new`;
    try {
      await Deno.writeTextFile(fresh, JSON.stringify(note), { mode: 0o600 });
      await Deno.rename(fresh, notePath(this.path));
    } catch {
      // The folder is read-only or the disk is full. Events are stored once even without a note.
      await Deno.remove(fresh).catch(() => {});
    }
  }

  /** Deletes the note: everything is stored. */
  async remove(): Promise<void> {
    await Deno.remove(notePath(this.path)).catch(() => {});
  }
}

function eventIdOf(line: Uint8Array): string | null {
  try {
    const { eventId } = JSON.parse(new TextDecoder().decode(line));
    return typeof eventId === "string" ? eventId : null;
  } catch {
    return null;
  }
}
