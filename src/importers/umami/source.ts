import type { ImportSource } from "../source.ts";
import { map } from "./map.ts";
import { NOTES } from "./notes.ts";
import { rows } from "./rows.ts";

export const UMAMI: ImportSource = {
  name: "umami",
  title: "Umami",
  takes: "its export (a zip, or `website_event.csv` with `event_data.csv`), or its PostgreSQL as " +
    "`postgres://…` (read only)",
  shape: "Umami 2.10 to 3: `db/postgresql/schema.prisma`, and the export of a website as CSV",
  notes: NOTES,
  rows,
  recognises: (row) => "event_id" in row && "event_type" in row && "url_path" in row,
  map,
};
