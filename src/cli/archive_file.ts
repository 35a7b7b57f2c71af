import { createHash } from "node:crypto";
import {
  type ArchiveHead,
  type ArchiveManifest,
  ArchiveRefused,
  eventsOf,
  type Frame,
  jsonOf,
  readFrames,
  rowsOf,
} from "../archive/archive_format.ts";
import { areSame, type Figures, NOTHING, Sum } from "../archive/figures.ts";
import type { Call } from "./command.ts";
import { openNamed } from "./line_file.ts";
import { createProgress } from "./progress.ts";

/** What a file contains that was checked to be a complete archive. */
export interface CheckedArchive {
  readonly head: ArchiveHead;
  readonly manifest: ArchiveManifest;
  readonly bytes: number;
}

/** Yields the frames of a file, from its beginning. */
export async function* framesOf(path: string, signal: AbortSignal): AsyncGenerator<Frame> {
  // The stream closes the file when it ends.
  const { file } = await openNamed(path);
  for await (const frame of readFrames(file.readable)) {
    signal.throwIfAborted();
    yield frame;
  }
}

/** Sums up the rows, and counts the events, of an archive's frames. */
class FrameSums {
  readonly rows = new Map<string, Sum>();
  readonly events = new Map<string, number>();

  add(frame: Frame): void {
    if (frame.kind === "events") {
      const { project, events } = eventsOf(frame);
      this.events.set(project, (this.events.get(project) ?? 0) + events);
    } else if (frame.kind === "rows") {
      const { table, of, rows } = rowsOf(frame);
      const name = `${table} ${of}`;
      const sum = this.rows.get(name) ?? new Sum();
      for (const row of rows) sum.add(row);
      this.rows.set(name, sum);
    }
  }

  /** Whether the manifest has the same sums. */
  match({ rows, events }: ArchiveManifest): boolean {
    const stated = Object.entries(rows)
      .flatMap(([table, of]) => Object.entries(of).map(([id, sum]) => [`${table} ${id}`, sum]));
    return stated.every(([name, sum]) =>
      areSame(sum as Figures, this.rows.get(name as string)?.figures ?? NOTHING)
    ) && [...this.rows.keys()].every((name) => stated.some(([other]) => other === name)) &&
      Object.entries(events).every(([id, { count }]) => count === (this.events.get(id) ?? 0)) &&
      [...this.events.keys()].every((id) => Object.hasOwn(events, id));
  }
}

/**
 * Reads and checks a whole archive file, before any of it is stored. Throws UnreadableFile, and ArchiveRefused,
 * which names the byte.
 */
export async function checkArchive(call: Call, path: string): Promise<CheckedArchive> {
  const { print, now, signal } = call;
  const { file, size } = await openNamed(path);
  file.close();
  const progress = createProgress(print, "Checking", size, now);
  const whole = createHash("sha256");
  const sums = new FrameSums();
  let head: ArchiveHead | null = null;
  let manifest: ArchiveManifest | null = null;
  let at = 0;
  try {
    for await (const frame of framesOf(path, signal)) {
      if (frame.kind === "head") head = jsonOf<ArchiveHead>(frame);
      if (frame.kind === "manifest") manifest = jsonOf<ArchiveManifest>(frame);
      else whole.update(frame.bytes);
      sums.add(frame);
      at = frame.at;
      progress.update(frame.at, `${(frame.at / 1e6).toFixed(1)} MB`);
    }
  } finally {
    progress.end();
  }
  if (manifest!.sha256 !== whole.digest("hex") || !sums.match(manifest!)) {
    throw new ArchiveRefused(
      `The archive is damaged: its content before byte ${at} is not what its manifest says.`,
    );
  }
  return { head: head!, manifest: manifest!, bytes: size ?? 0 };
}
