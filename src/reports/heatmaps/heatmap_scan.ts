import type { EventMatch } from "../../query/filters.ts";
import { CELL_DEVICE, CELL_DEVICES } from "../../store/heatmap_cell.ts";
import { spanOf } from "../../query/range.ts";
import type { ValueIds } from "../../scans/event_value_ids.ts";
import { propertyValueIds } from "../../scans/property_value_ids.ts";
import type { Read } from "../../scans/read.ts";
import type { Behind } from "../behind/behind_tally.ts";
import { selectMatches } from "../../scans/selected_events.ts";
import type { LazyColumn } from "../../timelines/lazy_columns.ts";
import { CellCounting, type PointBits } from "./cell_counts.ts";
import { CELL_EVENTS, CELL_PEOPLE, type CellPeopleInputs } from "./cell_visitor.ts";

/** The property of clicks that names the clicked element. */
export const SELECTOR = "selector";

/** Which events are counted by their cells. */
interface CellQuestion extends PointBits {
  /** The events of one name, on one path or several. */
  readonly match: EventMatch;
  readonly device: typeof CELL_DEVICES[number];
  /** Whether events are also counted by element. */
  readonly elements: boolean;
}

export type FoundCells = Awaited<ReturnType<typeof scanCells>>;

/**
 * Counts the selected events that match and came from one kind of device. `textsOf` looks up the selectors of the
 * ids of elements.
 */
export async function scanCells(read: Read, question: CellQuestion) {
  const { match, device, elements } = question;
  const span = spanOf(read.range);
  const columns: LazyColumn[] = ["cells", ...elements ? [{ property: SELECTOR }] : []];
  const { selected, matches } = await selectMatches(read, span, [match], { columns });
  const ids = elements ? propertyValueIds(selected.timelines, SELECTOR) : null;
  const inputs = {
    matches,
    span,
    device: CELL_DEVICES.indexOf(device),
    elements: ids?.from ?? null,
  };
  const counting = new CellCounting(question);
  await selected.scanParts(CELL_EVENTS, () => inputs, (events) => counting.add(events), {
    byRun: true,
  });
  const textsOf: ValueIds["textsOf"] = ids?.textsOf ?? (() => Promise.resolve(new Map()));
  return { ...counting.result(), textsOf };
}

/** The events whose actors are listed: their cells have these bits, and the device's. */
export type CellPeopleQuestion =
  & Pick<CellQuestion, "match" | "device">
  & Pick<CellPeopleInputs, "mask" | "bits" | "stepMin">;

/** Finds the actors of these events, each at the moment of the first one. */
export async function findCellPeople(read: Read, question: CellPeopleQuestion): Promise<Behind> {
  const { match, device, mask, bits, stepMin } = question;
  const span = spanOf(read.range);
  const { selected, matches } = await selectMatches(read, span, [match], { columns: ["cells"] });
  const inputs = {
    matches,
    span,
    stepMin,
    mask: mask | CELL_DEVICE,
    bits: bits | CELL_DEVICES.indexOf(device),
  };
  return await selected.scan(CELL_PEOPLE, () => inputs);
}
