import { parseJson } from "../json_text.ts";
import type { ExportedEvent } from "./exported_event.ts";

/** Reads events from NDJSON that arrives in chunks: what is no whole line yet waits for the next one. */
export class EventLines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The events whose lines this chunk completes. */
  take(chunk: Uint8Array): ExportedEvent[] {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    this.#rest = text.slice(end);
    if (end === 0) return [];
    return text.slice(0, end - 1).split("\n").map((line) => parseJson(line) as ExportedEvent)
      // The last line of a file that breaks off is a problem: what it is told by ends there too.
      .filter((event) => event.eventId !== undefined);
  }
}
