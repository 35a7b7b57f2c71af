/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type CsvCell, csvText } from "../event_file/csv.ts";
import { downloadCsv } from "./download.ts";
import { Icon } from "./icons.tsx";
import { counted } from "./number_format.ts";

/** What goes into the file: the header, and a record for each row. */
export interface CsvContent {
  readonly header: readonly string[];
  readonly rows: readonly (readonly CsvCell[])[];
}

interface CsvButtonProps {
  /** The file's name without its ending. */
  readonly name: string;
  /** What the table is called; of several buttons each says whose it is. */
  readonly table: string;
  /** Shown too, where another button stands beside it. */
  readonly isTableShown?: boolean;
  /** Makes the content; `progress` may be told how many rows are there. */
  readonly content: (progress: (rows: number) => void) => CsvContent | Promise<CsvContent>;
}

/** Downloads a table as CSV; one that takes long tells its progress. */
export function CsvButton({ name, table, isTableShown = false, content }: CsvButtonProps) {
  const [note, setNote] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    setNote(null);
    try {
      const { header, rows } = await content((count) => setNote(counted(count, "row")));
      downloadCsv(name, csvText(header, rows));
      setNote(null);
    } catch {
      setNote("Failed. Try again");
    }
    setBusy(false);
  };
  return (
    <button
      type="button"
      class="button button-quiet"
      disabled={isBusy}
      aria-label={`CSV: ${table}`}
      title={`Download as CSV: ${table}`}
      onClick={save}
    >
      <Icon name="download" />{" "}
      <span role="status">{note ?? (isTableShown ? `CSV: ${table}` : "CSV")}</span>
    </button>
  );
}
