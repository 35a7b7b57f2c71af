import { membersOf } from "../fields.ts";
import { jsonFiles } from "../file_rows.ts";
import type { ImportSource } from "../source.ts";
import { map } from "./map.ts";
import { NOTES } from "./notes.ts";

export const MIXPANEL: ImportSource = {
  name: "mixpanel",
  title: "Mixpanel",
  takes: "JSON lines of its raw export, gzipped or plain",
  shape: "Mixpanel's Raw Event Export API (`/api/2.0/export`), as its manual describes it in 2026",
  notes: NOTES,
  rows: jsonFiles(),
  recognises: (row) =>
    "event" in row && !("distinct_id" in row) && "time" in membersOf(row.properties),
  map,
};
