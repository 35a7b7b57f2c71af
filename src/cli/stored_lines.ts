import {
  type ArchiveManifest,
  eventsOf,
  type Frame,
  jsonOf,
  readFrames,
} from "../archive/archive_format.ts";
import type { DamagedBlock } from "../archive/damaged_blocks.ts";
import type { BotChoice } from "../query/selection.ts";
import { isOfBots, shownEvent } from "../reports/shown/shown_event.ts";
import { decodeBlock } from "../store/journal_events.ts";
import { type Connection, refusalOf } from "./connection.ts";
import { untilBroken } from "./reply_body.ts";

/** Which stored events to read. */
export interface StoredChoice {
  readonly project: string;
  readonly bots: BotChoice;
  /** Events from `fromMs` on and before `toMs`. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the chosen events of a frame as NDJSON. */
function linesOf(frame: Frame, { bots, fromMs, toMs }: StoredChoice): string {
  const isWanted = (at: string) => Date.parse(at) >= fromMs && Date.parse(at) < toMs;
  return decodeBlock(eventsOf(frame).block, 0)
    .filter((row) => isOfBots(bots, row) && isWanted(row.occurred_at))
    .map((row) => `${JSON.stringify(shownEvent(row))}\n`).join("");
}

/**
 * Yields a project's events as NDJSON, in the order of storage. They are read block by block, as for an archive,
 * so that unreadable blocks can be left out.
 * @returns the blocks that were left out, once all have been read
 */
export async function* storedLines(
  connection: Connection,
  choice: StoredChoice,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, readonly DamagedBlock[]> {
  const { project } = choice;
  const query = new URLSearchParams({ project, part: "events", damaged: "skip" });
  const reply = await connection.fetch(`/v1/archive?${query}`, { signal });
  if (!reply.ok) throw await refusalOf(reply);
  const encoder = new TextEncoder();
  let damaged: readonly DamagedBlock[] = [];
  for await (const frame of readFrames(untilBroken(reply.body!, signal, "The export"))) {
    if (frame.kind === "manifest") damaged = jsonOf<ArchiveManifest>(frame).damaged ?? [];
    else if (frame.kind === "events") yield encoder.encode(linesOf(frame, choice));
  }
  return damaged;
}

/** Reads all of a project's stored events, and returns the blocks that cannot be read. */
export async function unreadableBlocks(
  connection: Connection,
  project: string,
  signal: AbortSignal,
): Promise<readonly DamagedBlock[]> {
  const nothing = { project, bots: "include", fromMs: Infinity, toMs: -Infinity } as const;
  const lines = storedLines(connection, nothing, signal);
  for (;;) {
    const next = await lines.next();
    if (next.done) return next.value;
  }
}
