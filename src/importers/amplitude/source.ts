import { jsonFiles } from "../file_rows.ts";
import type { ImportSource } from "../source.ts";
import { map } from "./map.ts";
import { NOTES } from "./notes.ts";

export const AMPLITUDE: ImportSource = {
  name: "amplitude",
  title: "Amplitude",
  takes: "the zip of its Export API (gzipped JSON lines in it), or those files",
  shape: "Amplitude's Export API (`/api/2/export`), as its manual describes it in 2026",
  notes: NOTES,
  rows: jsonFiles(),
  recognises: (row) => "event_type" in row && ("event_time" in row || "client_event_time" in row),
  map,
};
