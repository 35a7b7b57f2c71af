/// <reference lib="dom" />
import { Button } from "./button.tsx";
import { useState } from "preact/hooks";
import { type CsvCell, csvText } from "../event_file/csv.ts";
import { downloadCsv } from "./download.ts";
import { counted } from "./number_format.ts";

/** The content of the file: its header, and a record for each row. */
export interface CsvContent {
  readonly header: readonly string[];
  readonly rows: readonly (readonly CsvCell[])[];
}

interface CsvButtonProps {
  /** The file's name without its ending. */
  readonly name: string;
  /** The table's name, which tells several buttons apart. */
  readonly table: string;
  /** Whether the table's name is visible too, as beside another such button. */
  readonly isTableShown?: boolean;
  /** Makes the content; may call `progress` with the rows so far. */
  readonly content: (progress: (rows: number) => void) => CsvContent | Promise<CsvContent>;
}

/** A button that downloads a table as CSV, and shows the progress if that takes long. */
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
    <Button
      icon="download"
      kind="quiet"
      disabled={isBusy}
      aria-label={`CSV: ${table}`}
      title={`Download as CSV: ${table}`}
      onClick={save}
    >
      <span role="status">{note ?? (isTableShown ? `CSV: ${table}` : "CSV")}</span>
    </Button>
  );
}
