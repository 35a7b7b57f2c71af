import type { ImportSource } from "../source.ts";
import { map } from "./map.ts";
import { NOTES } from "./notes.ts";
import { rows } from "./rows.ts";

export const GOATCOUNTER: ImportSource = {
  name: "goatcounter",
  title: "GoatCounter",
  takes: "its CSV export with individual page views, gzipped or plain",
  shape: "versions 1 and 2 of the CSV export (GoatCounter 1.4 to 2.7): `export.go`, `/help/export`",
  notes: NOTES,
  rows,
  recognises: (row) => "Path" in row && "Date" in row && "Session" in row,
  map,
};
