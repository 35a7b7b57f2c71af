import assert from "node:assert/strict";
import { type SourceLine, sourcePass } from "../../src/cli/source_lines.ts";
import { ROW_BYTES_MAX } from "../../src/importers/importer_limits.ts";
import { POSTHOG } from "../../src/importers/posthog/source.ts";
import { IMPORT_LINE_BYTES_MAX } from "../../src/ingest/import_limits.ts";
import { jsonLines } from "../importers/rows.ts";
import { posthogEvent } from "../importers/source_rows.ts";

async function linesOf(...rows: readonly unknown[]): Promise<SourceLine[]> {
  const input = { source: POSTHOG, files: [jsonLines("e.jsonl", rows)], database: null };
  const { lines } = sourcePass({ ...input, timeZone: null }, "prj_one", () => {});
  return (await Array.fromAsync(lines)).flat();
}

Deno.test("import --from: an event that is too large is refused by itself, and not sent", async () => {
  const padded = (length: number) => posthogEvent({}, { pad: "x".repeat(length) });
  const [bare] = await linesOf(padded(0));
  const room = IMPORT_LINE_BYTES_MAX - bare!.bytes.length;
  // The last one has hardly room in a request.
  const lengths = [room, room + 1, 0, ROW_BYTES_MAX - 4_096];
  const lines = await linesOf(...lengths.map(padded));
  assert.deepEqual(lines.map(({ refused }) => refused?.code ?? null), [
    null,
    "event_too_large",
    null,
    "event_too_large",
  ]);
  assert.equal(lines[0]?.bytes.length, IMPORT_LINE_BYTES_MAX);
  // A dry run counts by what the lines are made of.
  assert.deepEqual(lines.map(({ made }) => "refused" in made.outcome), [false, true, false, true]);
});
