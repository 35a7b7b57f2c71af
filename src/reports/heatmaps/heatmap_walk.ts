import type { LazyColumn } from "../../timelines/lazy_columns.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { EventMatch } from "../../query/filters.ts";
import { CELL_DEVICE, CELL_DEVICES } from "../../store/heatmap_cell.ts";
import { matchTests } from "../../scans/match_tests.ts";
import { walkMatched } from "../../scans/matched_walk.ts";
import type { Read } from "../../scans/read.ts";
import { selectHistories } from "../../scans/selected_histories.ts";

/** An event of a page, and its heatmap cell. */
export type VisitCell = (cell: number, actor: number, segment: LoadedSegment, at: number) => void;

/**
 * Visits the selected events of a read that a match takes and whose windows are a device's: all of an
 * actor before those of another.
 * @param columns what the visit needs beside the cells
 */
export async function walkCells(
  read: Read,
  match: EventMatch,
  device: typeof CELL_DEVICES[number],
  columns: readonly LazyColumn[],
  visit: VisitCell,
): Promise<void> {
  const { sql, scope, range } = read;
  const [fromMs, toMs] = [range.from.getTime(), range.to.getTime()];
  const selected = await selectHistories(read, { fromMs, toMs }, {
    filters: match.filters,
    columns: [{ cells: true }, ...columns],
  });
  const wanted = CELL_DEVICES.indexOf(device);
  const ofEvents = { ...scope, filters: selected.eventFilters };
  const tests = await matchTests(sql, ofEvents, [match], selected.histories.bits);
  const { scope: ofScope, tests: [ofMatch] } = tests;
  const { names, paths: pages } = ofMatch!;
  await walkMatched(sql, selected, tests, true, (actor, segment, start, end) => {
    const { fromMs: baseMs, times, names: ids, paths, contexts, marks } = segment;
    for (let at = start; at < end; at++) {
      const name = ids[at]!;
      const path = paths[at]!;
      if (names![name] === 0 || pages![path] === 0) continue;
      const ms = baseMs + times[at]!;
      if (ms < fromMs || ms >= toMs) continue;
      const cell = segment.cells[at]!;
      if ((cell & CELL_DEVICE) !== wanted) continue;
      if (!ofScope.passes(name, path, contexts[at]!, actor, marks[at]!)) continue;
      visit(cell, actor, segment, at);
    }
  });
}
