/**
 * Where an import of a file goes on after it was stopped: a note beside the file, written as lines are
 * stored and taken away at the end. It is believed only of the very same file and project, and where
 * the last event that it tells of is stored: a database of another time has to be told everything.
 */
import type { Connection } from "./connection.ts";
import { callApi, type ShownProject } from "./connection.ts";
import type { ImportSum } from "./import_lines.ts";

/** Between two notes: what is sent twice after a kill is little more than this. */
const NOTE_MS = 1_000;

/** What a note tells. */
interface Note {
  readonly version: 1;
  readonly import: string;
  readonly project: string;
  readonly projectMade: string;
  readonly fileBytes: number;
  readonly fileChanged: number;
  readonly lines: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly number: number;
  readonly end: number;
  readonly eventId: string;
  readonly rejectedBytes: number;
}

/** An import that was begun before. */
export interface BegunImport {
  readonly name: string;
  readonly before: ImportSum;
  readonly rejectedBytes: number;
}

/** Which file goes into which project. */
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

/** Whether the database has the event. */
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
export class ImportPlace {
  #writtenAt = -Infinity;
  #eventId: string;

  private constructor(
    readonly name: string,
    readonly path: string,
    readonly facts: Facts,
    /** Null: it begins here. */
    readonly begun: BegunImport | null,
    eventId: string,
  ) {
    this.#eventId = eventId;
  }

  /** Finds out where to begin. Throws RequestRefused for a project that is not there. */
  static async find(connection: Connection, file: ImportedFile): Promise<ImportPlace> {
    const facts = await factsOf(connection, file);
    const note = await readNote(file.path);
    const isSame = note !== null &&
      Object.entries(facts).every(([name, value]) => note[name as keyof Facts] === value);
    if (!isSame || !await isStored(connection, file.project, note.eventId)) {
      return new ImportPlace(crypto.randomUUID(), file.path, facts, null, "");
    }
    const { lines, accepted, duplicates, rejected, number, end, eventId, rejectedBytes } = note;
    const before = { lines, accepted, duplicates, rejected, number, end, stored: null };
    const begun = { name: note.import, before, rejectedBytes };
    return new ImportPlace(note.import, file.path, facts, begun, eventId);
  }

  /** Notes how far all is stored, once in a while. Where nothing can be written, a new run begins anew. */
  async note(sum: ImportSum, rejectedBytes: number, nowMs: number): Promise<void> {
    if (nowMs - this.#writtenAt < NOTE_MS) return;
    this.#writtenAt = nowMs;
    await this.write(sum, rejectedBytes);
  }

  /** Notes it now. */
  async write(sum: ImportSum, rejectedBytes: number): Promise<void> {
    const { stored, lines, accepted, duplicates, rejected, number, end } = sum;
    if (stored !== null) this.#eventId = eventIdOf(stored.bytes) ?? this.#eventId;
    if (this.#eventId === "") return;
    const note: Note = {
      version: 1,
      import: this.name,
      ...this.facts,
      ...{ lines, accepted, duplicates, rejected, number, end, rejectedBytes },
      eventId: this.#eventId,
    };
    const fresh = `${notePath(this.path)}.new`;
    try {
      await Deno.writeTextFile(fresh, JSON.stringify(note), { mode: 0o600 });
      await Deno.rename(fresh, notePath(this.path));
    } catch {
      // A folder that may not be written to, or a full disk: events are stored once all the same.
      await Deno.remove(fresh).catch(() => {});
    }
  }

  /** All is stored. */
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
