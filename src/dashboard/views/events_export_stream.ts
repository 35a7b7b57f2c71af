/// <reference lib="dom" />
import { apiUrl, request } from "../api.ts";
import { unreachable } from "../api_problem.ts";
import type { Params } from "../location_state.ts";
import { CSV_HEAD, csvLines } from "../../event_file/event_columns.ts";
import { EventLines, newlinesIn } from "../../event_file/event_lines.ts";

export type ExportFormat = "ndjson" | "csv";

/** Bytes of each `Blob`, which the browser may keep on disk. */
const PART_BYTES = 4 * 1024 * 1024;

/** Collects a file of any size without holding it in the page's own memory. */
class FileParts {
  readonly #type: string;
  readonly #done: Blob[] = [];
  #open: BlobPart[] = [];
  #bytes = 0;

  constructor(type: string) {
    this.#type = type;
  }

  add(part: Uint8Array<ArrayBuffer> | string): void {
    if (part.length === 0) return;
    this.#open.push(part);
    this.#bytes += part.length;
    if (this.#bytes >= PART_BYTES) this.#close();
  }

  #close(): void {
    this.#done.push(new Blob(this.#open));
    this.#open = [];
    this.#bytes = 0;
  }

  file(): Blob {
    this.#close();
    return new Blob(this.#done, { type: this.#type });
  }
}

/**
 * Reads every event of a selection as it comes, and makes a file of it; memory stays bounded.
 * `onProgress` is called with the number of events so far.
 * @throws ApiProblem; DOMException `AbortError` if `signal` aborts.
 */
export async function exportedFile(
  format: ExportFormat,
  params: Params,
  signal: AbortSignal,
  onProgress: (events: number) => void,
): Promise<Blob> {
  const { body } = await request(apiUrl("/v1/events", params), {
    headers: { Accept: "application/x-ndjson" },
    signal,
  });
  const isCsv = format === "csv";
  const parts = new FileParts(isCsv ? "text/csv;charset=utf-8" : "application/x-ndjson");
  const lines = new EventLines();
  if (isCsv) parts.add(`\ufeff${CSV_HEAD}`);
  const reader = body!.getReader();
  let events = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return parts.file();
      events += newlinesIn(value);
      parts.add(isCsv ? csvLines(lines.take(value)) : value);
      onProgress(events);
    }
  } catch (error) {
    throw unreachable(error);
  }
}
