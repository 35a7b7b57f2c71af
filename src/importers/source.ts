import type { ImportedEvent } from "../event_file/exported_event.ts";
import type { EventIds } from "./event_id.ts";
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

/** What becomes of one thing that a product stores: a row of the manual's table. */
export interface MappingNote {
  /** Theirs, e.g. `url_path`, `url_query`. */
  readonly theirs: string;
  /** Ours, e.g. `url`; null: it is not imported. */
  readonly ours: string | null;
  /** What else there is to say. */
  readonly how?: string;
}

/** What a row is made into. A row may hold several events, or none. */
export type Mapped =
  | { readonly event: ImportedEvent }
  | { readonly refused: RowRefusal }
  /** Not an event of a visitor; the words say what it is. */
  | { readonly leftOut: string };

/** What rows are mapped with. */
export interface MapContext {
  readonly ids: EventIds;
  /** The zone of times that are told as if they were UTC; null: they are. */
  readonly timeZone: string | null;
}

/** A row, and where it stands. */
export type SourceRow = Row & { readonly file: string };

/** What rows are read with. */
export interface ReadContext {
  readonly read: BytesRead;
  /** A file begins whose rows are numbered anew. */
  readonly fileBegins: () => void;
}

/** How files of one product are read and understood. */
export interface ImportSource {
  readonly name: SourceName;
  /** As people know it. */
  readonly title: string;
  /** What of that product is taken, and how one gets it. */
  readonly takes: string;
  /** From which version on, and where the shape is told. */
  readonly shape: string;
  readonly notes: readonly MappingNote[];
  /** Rows of the files, some at a time. Throws FileProblem for a file that cannot be read. */
  readonly rows: (files: readonly InputFile[], context: ReadContext) => AsyncGenerator<SourceRow[]>;
  /** Whether a row looks like one of this product. */
  readonly recognises: (row: Members) => boolean;
  readonly map: (row: Members, context: MapContext) => readonly Mapped[];
}
