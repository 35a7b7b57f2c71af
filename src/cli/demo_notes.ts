import { demoNotes } from "../demo/demo_notes.ts";
import { callApi, type Connection } from "./connection.ts";

/** Adds the demo's notes to its charts, unless there are notes already. */
export async function provideDemoNotes(
  connection: Connection,
  project: string,
  untilMs: number,
): Promise<void> {
  const path = `/v1/notes?project=${encodeURIComponent(project)}`;
  const { notes } = await callApi<{ notes: readonly unknown[] }>(connection, "GET", path);
  if (notes.length > 0) return;
  for (const note of demoNotes(untilMs)) await callApi(connection, "POST", path, note);
}
