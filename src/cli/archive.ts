import { createHash } from "node:crypto";
import {
  type ArchiveHead,
  type ArchiveManifest,
  ArchiveRefused,
  eventsOf,
  jsonOf,
  readFrames,
} from "../archive/archive_format.ts";
import { damagedPlace } from "../archive/damaged_blocks.ts";
import { tallied } from "../importers/input_file.ts";
import { type Call, type Command, UsageMistake } from "./command.ts";
import { refusalOf, withConnection } from "./connection.ts";
import { createProgress } from "./progress.ts";
import { untilBroken } from "./reply_body.ts";
import { printable } from "./terminal.ts";
import { outputPath, WholeFile } from "./whole_file.ts";
import { counted } from "../number_words.ts";

const FAILED = 1;

/** A complete archive. */
interface Archived {
  readonly head: ArchiveHead;
  readonly manifest: ArchiveManifest;
  readonly bytes: number;
}

/** Copies an archive to a file, writing each frame only once it is complete and valid. */
async function copy(
  call: Call,
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
  file: WholeFile,
): Promise<Archived> {
  const { print, now, signal } = call;
  let head: ArchiveHead | null = null;
  let manifest: ArchiveManifest | null = null;
  let [events, bytes] = [0, 0];
  let progress = createProgress(print, "Archiving", null, now);
  const whole = createHash("sha256");
  const chunks = tallied(untilBroken(body, signal, "The archive"), (read) => bytes += read);
  try {
    for await (const frame of readFrames(chunks)) {
      if (frame.kind === "head") {
        head = jsonOf<ArchiveHead>(frame);
        progress = createProgress(print, "Archiving", head.events, now);
      } else if (frame.kind === "events") events += eventsOf(frame).events;
      else if (frame.kind === "manifest") manifest = jsonOf<ArchiveManifest>(frame);
      if (frame.kind !== "manifest") whole.update(frame.bytes);
      await file.write(frame.bytes);
      progress.update(events, `${(bytes / 1e6).toFixed(1)} MB`);
    }
  } finally {
    progress.end();
  }
  if (manifest!.sha256 !== whole.digest("hex")) {
    throw new ArchiveRefused("The server's archive does not add up. Try again.");
  }
  return { head: head!, manifest: manifest!, bytes };
}

const sumOf = (figures: Readonly<Record<string, { readonly count: number }>>) =>
  Object.values(figures).reduce((sum, { count }) => sum + count, 0);

/** Returns the number of rows that an archive has of each table. */
export function rowCounts({ rows }: ArchiveManifest): Record<string, number> {
  return Object.fromEntries(Object.entries(rows).map(([name, figures]) => [name, sumOf(figures)]));
}

export function eventCount({ events }: ArchiveManifest): number {
  return sumOf(events);
}

/** Describes the blocks that an archive leaves out because they cannot be read. */
export function shownDamage({ damaged = [] }: ArchiveManifest): string {
  const lines = damaged.map((block) => `  ${printable(damagedPlace(block))}\n`);
  return lines.length === 0 ? "" : `Not in it, because it is damaged:\n${lines.join("")}`;
}

async function archive(call: Call): Promise<number> {
  const [word] = call.words;
  if (word === undefined) throw new UsageMistake("Say which FILE to write.");
  const path = outputPath(word);
  const { options, print, signal, now } = call;
  const project = options.text("project");
  const query = new URLSearchParams({
    ...project === null ? {} : { project },
    ...options.flag("secrets") ? { secrets: "1" } : {},
    ...options.flag("skip-damaged") ? { damaged: "skip" } : {},
  });
  const startedAt = now();
  const archived = await withConnection(call, async (connection) => {
    const reply = await connection.fetch(`/v1/archive?${query}`, { signal });
    if (!reply.ok) throw await refusalOf(reply);
    await using file = await WholeFile.open(path);
    const archived = await copy(call, reply.body!, file);
    await file.finish();
    return archived;
  });
  const { head, manifest, bytes } = archived;
  const seconds = (now() - startedAt) / 1000;
  const events = eventCount(manifest);
  const document = {
    archive: head.id,
    output: path,
    project: head.project,
    projects: head.projects.map(({ id }) => id),
    events,
    rows: rowCounts(manifest),
    bytes,
    secrets: head.secrets,
    damaged: manifest.damaged ?? [],
  };
  print.result(
    document,
    () =>
      `${counted(events, "event")} of ${counted(head.projects.length, "project")}` +
      ` in ${printable(path)} (${(bytes / 1e6).toFixed(1)} MB, ${seconds.toFixed(1)} s).\n` +
      shownDamage(manifest),
  );
  return document.damaged.length === 0 ? 0 : FAILED;
}

export const ARCHIVE_COMMAND: Command = {
  name: "archive",
  summary: "Write a project, or the whole server, into one file: the backup",
  usage: "footfall archive FILE [options]",
  notes:
    "Every event that is committed as it begins, projects, keys (as hashes; public ones whole), people\n" +
    "(password hashes, passkeys, identity providers), funnels, goals, segments, shares, tokens, audit, pictures,\n" +
    "and the visitor salts of today and yesterday. The server goes on meanwhile. With --project, what\n" +
    "belongs to no project is left out. The file takes the place of one that is there once it is whole.\n" +
    "Sessions, open invitations and the secret of tokens are left out unless --secrets asks for them:\n" +
    "whoever has such a file is let in. A block of events that cannot be read ends it with a sentence\n" +
    "that names the block; with --skip-damaged everything else is written, and the exit code is 1.",
  wordsMax: 1,
  options: {
    project: {
      type: "string",
      placeholder: "ID",
      default: "the whole server",
      meaning: "project that is archived alone",
    },
    secrets: {
      type: "boolean",
      meaning: "also what lets people and tokens in, for a server that takes this one's place",
    },
    "skip-damaged": {
      type: "boolean",
      meaning: "leave out what cannot be read, and name it",
    },
  },
  example: "footfall archive backup.footfall",
  run: archive,
};
