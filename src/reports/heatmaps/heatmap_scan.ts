import type { EventMatch } from "../../query/filters.ts";
import { CELL_DEVICE, CELL_DEVICES } from "../../store/heatmap_cell.ts";
import { spanOf } from "../../query/range.ts";
import type { ValueIds } from "../../scans/event_value_ids.ts";
import { propertyValueIds } from "../../scans/property_value_ids.ts";
import type { Read } from "../../scans/read.ts";
import type { Behind } from "../behind/behind_tally.ts";
import { selectMatches } from "../visitors/selected_events.ts";
import { CELL_COUNTS, CELL_PEOPLE, type CellCounts } from "./cell_visitor.ts";

/** The property of clicks that says what was clicked. */
export const SELECTOR = "selector";

/** Which events are counted by their cells. */
interface CellQuestion {
  /** Of a name, on a path or some. */
  readonly match: EventMatch;
  readonly device: typeof CELL_DEVICES[number];
  /** The bits of a cell that a point must have; null: no event is a point. */
  readonly wanted: number | null;
  /** The bits by which points are told apart. */
  readonly point: number;
  /** Whether points are counted by their elements too. */
  readonly elements: boolean;
}

/** What the events come to, and what the ids of their elements stand for. */
export interface FoundCells extends CellCounts {
  readonly textsOf: ValueIds["textsOf"];
}

/** Counts the selected events of a read that a match takes and whose windows are a device's. */
export async function scanCells(read: Read, question: CellQuestion): Promise<FoundCells> {
  const { match, device, wanted, point, elements } = question;
  const span = spanOf(read.range);
  const columns = [{ cells: true } as const, ...elements ? [{ property: SELECTOR }] : []];
  const { selected, matches } = await selectMatches(read, span, [match], { columns });
  const ids = elements ? propertyValueIds(selected.timelines, SELECTOR) : null;
  const inputs = {
    ...{ matches, span, wanted, point },
    device: CELL_DEVICES.indexOf(device),
    elements: ids?.from ?? null,
  };
  const counts = await selected.scan(CELL_COUNTS, () => inputs);
  return { ...counts, textsOf: ids?.textsOf ?? (() => Promise.resolve(new Map())) };
}

/** Events in whose cells these bits are so. */
export interface PeopleQuestion extends Pick<CellQuestion, "match" | "device"> {
  /** Bits beside those of the device, and what they must be. */
  readonly mask: number;
  readonly bits: number;
  /** Of scrolls how deep they must go, in steps. */
  readonly stepMin: number;
}

/** Who did such an event, each by the first. */
export async function findCellPeople(read: Read, question: PeopleQuestion): Promise<Behind> {
  const { match, device, mask, bits, stepMin } = question;
  const span = spanOf(read.range);
  const columns = [{ cells: true } as const];
  const { selected, matches } = await selectMatches(read, span, [match], { columns });
  const inputs = {
    ...{ matches, span, stepMin },
    mask: mask | CELL_DEVICE,
    bits: bits | CELL_DEVICES.indexOf(device),
  };
  return await selected.scan(CELL_PEOPLE, () => inputs);
}
