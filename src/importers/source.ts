import type { ImportedEvent } from "../event_file/exported_event.ts";
import type { EventIds } from "./event_ids.ts";
import type { InputFile } from "./input_file.ts";
import type { Members, Row } from "./json_rows.ts";
import type { RowRefusal } from "./text_lines.ts";
import type { BytesRead } from "./unpacked.ts";

/** Products whose events are imported one by one. */
export type SourceName =
  | "umami"
  | "posthog"
  | "amplitude"
  | "mixpanel"
  | "ga4"
  | "matomo"
  | "goatcounter";

/** How something that a product stores is imported: a row of the manual's table. */
export interface MappingNote {
  /** The product's names, e.g. `url_path`, `url_query`. */
  readonly theirs: string;
  /** Footfall's names, e.g. `url`; null: it is not imported. */
  readonly ours: string | null;
  /** More about it. */
  readonly how?: string;
}

/** One result of mapping a row, which may hold several events, or none. */
export type Mapped =
  | { readonly event: ImportedEvent }
  | { readonly refused: RowRefusal }
  /** It is not an event of a visitor; the text says what it is. */
  | { readonly leftOut: string };

/** The context of mapping rows. */
export interface MapContext {
  readonly ids: EventIds;
  /** The zone of local times that are written as if they were UTC; null: the times are UTC. */
  readonly timeZone: string | null;
}

/** A row, and its place. */
export type SourceRow = Row & { readonly file: string };

/** The context of reading rows. */
export interface ReadContext {
  readonly read: BytesRead;
  /** To be called at the beginning of each file: equal rows are numbered within a file. */
  readonly fileBegins: () => void;
}

/** Reads and maps the files of one product. */
export interface ImportSource {
  readonly name: SourceName;
  /** The product's name for people. */
  readonly title: string;
  /** What is imported from the product, worded to follow `Umami takes …`. */
  readonly takes: string;
  /** The versions that are known, and where their format is documented. */
  readonly shape: string;
  readonly notes: readonly MappingNote[];
  /** Yields the rows of the files in batches. Throws FileProblem for a file that cannot be read. */
  readonly rows: (files: readonly InputFile[], context: ReadContext) => AsyncGenerator<SourceRow[]>;
  /** Whether a row looks like one of this product. */
  readonly recognises: (row: Members) => boolean;
  readonly map: (row: Members, context: MapContext) => readonly Mapped[];
}
