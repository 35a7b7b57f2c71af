import { parseJson } from "../json_text.ts";
import { type ColumnKind, EVENT_COLUMNS, type EventColumn } from "./event_columns.ts";
import type { ExportedEvent } from "./exported_event.ts";

/** Events of a row group, and bytes of their lines: this much is in memory until it is written. */
export const ROW_GROUP_EVENTS = 20_000;
export const ROW_GROUP_BYTES_AIM = 32 * 1024 * 1024;

const TYPES = {
  text: "STRING",
  number: "INT32",
  boolean: "BOOLEAN",
  time: "TIMESTAMP",
  json: "JSON",
} as const satisfies Record<ColumnKind, string>;

/** Returns the value of a cell. The writer takes JSON columns as values, and makes their text itself. */
function cellOf({ kind, value }: EventColumn, event: ExportedEvent): unknown {
  const cell = value(event) ?? null;
  if (cell === null || kind === "text" || kind === "number" || kind === "boolean") return cell;
  return kind === "time" ? new Date(String(cell)) : parseJson(String(cell));
}

/**
 * Writes a Parquet file of events, one row group after the other, so that memory stays bounded. The package that
 * does so is loaded by the first file.
 */
export class ParquetFile {
  readonly #bytes: InstanceType<typeof import("hyparquet-writer").ByteWriter>;
  readonly #file: InstanceType<typeof import("hyparquet-writer").ParquetWriter>;
  #events: ExportedEvent[] = [];
  #bytesHeld = 0;

  private constructor(parquet: typeof import("hyparquet-writer")) {
    this.#bytes = new parquet.ByteWriter();
    const schema = parquet.schemaFromColumnData({ columnData: this.#columnsOf([]) });
    this.#file = new parquet.ParquetWriter({
      writer: this.#bytes,
      schema,
      createdBy: "Footfall",
    });
  }

  static async begin(): Promise<ParquetFile> {
    return new ParquetFile(await import("hyparquet-writer"));
  }

  #columnsOf(events: readonly ExportedEvent[]) {
    return EVENT_COLUMNS.map((column) => ({
      name: column.name,
      type: TYPES[column.kind],
      data: events.map((event) => cellOf(column, event)),
    }));
  }

  /** Adds events whose lines have `lineBytes` bytes. @returns the next bytes of the file, mostly none */
  add(events: readonly ExportedEvent[], lineBytes: number): Uint8Array {
    for (const event of events) this.#events.push(event);
    this.#bytesHeld += lineBytes;
    const isFull = this.#events.length >= ROW_GROUP_EVENTS ||
      this.#bytesHeld >= ROW_GROUP_BYTES_AIM;
    if (isFull && this.#events.length > 0) this.#writeGroup();
    return this.#taken();
  }

  /** Ends the file. @returns its last bytes */
  end(): Uint8Array {
    if (this.#events.length > 0) this.#writeGroup();
    this.#file.finish();
    return this.#taken();
  }

  #writeGroup(): void {
    const events = this.#events;
    this.#events = [];
    this.#bytesHeld = 0;
    this.#file.write({ columnData: this.#columnsOf(events), rowGroupSize: events.length });
  }

  /** Takes the bytes written since the last call; the writer itself counts all bytes of the file. */
  #taken(): Uint8Array {
    const bytes = new Uint8Array(this.#bytes.buffer.slice(0, this.#bytes.index));
    this.#bytes.index = 0;
    return bytes;
  }
}
