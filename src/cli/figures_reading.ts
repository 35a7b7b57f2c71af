import { ArchiveRefused } from "../archive/archive_format.ts";
import type { Figures } from "../archive/figures.ts";
import type { FiguresLine } from "../archive/read_figures.ts";
import type { Call } from "./command.ts";
import { type Connection, refusalOf } from "./connection.ts";
import { createProgress } from "./progress.ts";
import { untilBroken } from "./reply_body.ts";
import { counted } from "../number_words.ts";

export interface StoredFigures {
  /** The figures of each project. */
  readonly figures: Readonly<Record<string, Figures>>;
  readonly journalId: number;
}

/** Reads the count and the digest of all stored events, of one project or of all. Throws ArchiveRefused. */
export async function storedFigures(
  { print, now, signal }: Pick<Call, "print" | "now" | "signal">,
  connection: Connection,
  project: string | null,
): Promise<StoredFigures> {
  const query = project === null ? "" : `?${new URLSearchParams({ project })}`;
  const reply = await connection.fetch(`/v1/archive/figures${query}`, { signal });
  if (!reply.ok) throw await refusalOf(reply);
  let progress: ReturnType<typeof createProgress> | null = null;
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const bytes of untilBroken(reply.body!, signal, "The comparison")) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines.map((line) => JSON.parse(line) as FiguresLine)) {
        if ("figures" in line) return line;
        if ("failure" in line) throw new ArchiveRefused(line.failure);
        progress ??= createProgress(print, "Comparing", line.of, now);
        progress.update(line.events, counted(line.events, "event"));
      }
    }
  } finally {
    progress?.end();
  }
  throw new Error("The server did not come to an end with its figures. Try again.");
}
