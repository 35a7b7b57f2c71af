import { parseJson } from "../json_text.ts";
import type { ExportedEvent } from "./exported_event.ts";

const NEWLINE = 0x0a;

/** Counts the line ends in a piece of text. */
export function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** Reads events from NDJSON that arrives in chunks; an incomplete line waits for the next chunk. */
export class EventLines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** Returns the events whose lines this chunk completes. */
  take(chunk: Uint8Array): ExportedEvent[] {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    this.#rest = text.slice(end);
    if (end === 0) return [];
    return text.slice(0, end - 1).split("\n").map((line) => parseJson(line) as ExportedEvent)
      // An export that breaks off ends with a line that is a problem, not an event.
      .filter((event) => event.eventId !== undefined);
  }
}
