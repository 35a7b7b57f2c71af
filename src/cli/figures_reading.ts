import type { Figures } from "../archive/figures.ts";
import type { Call } from "./command.ts";
import { type Connection, refusalOf } from "./connection.ts";
import { createProgress } from "./progress.ts";

export interface StoredFigures {
  /** By project. */
  readonly figures: Readonly<Record<string, Figures>>;
  readonly journalId: number;
}

type Line = { readonly events: number; readonly of: number } | StoredFigures;

/** Count and digest of every stored event, of one project or of all. */
export async function storedFigures(
  { print, now, signal }: Pick<Call, "print" | "now" | "signal">,
  connection: Connection,
  project: string | null,
): Promise<StoredFigures> {
  const query = project === null ? "" : `?${new URLSearchParams({ project })}`;
  const reply = await connection.fetch(`/v1/archive/figures${query}`, { signal });
  if (!reply.ok) throw await refusalOf(reply);
  let progress: ReturnType<typeof createProgress> | null = null;
  let rest = "";
  try {
    for await (const text of reply.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines.map((line) => JSON.parse(line) as Line)) {
        if ("figures" in line) return line;
        progress ??= createProgress(print.terminal, "Comparing", line.of, now);
        if (!print.json) progress.update(line.events, `${line.events} events`);
      }
    }
  } finally {
    if (!print.json) progress?.end();
  }
  throw new Error("The server did not come to an end with its figures. Try again.");
}
