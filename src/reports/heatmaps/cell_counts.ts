import { CELL_PLACED } from "../../store/heatmap_cell.ts";
import { type Yield, yielding } from "../../store/yielding.ts";
import { NO_ID } from "../../scans/value_ids.ts";
import { ActorCounts } from "./actor_counts.ts";
import type { CellEvents } from "./cell_visitor.ts";

/** Events between two checks of the clock. */
const EVENTS_UNTIMED = 10_000;

/** How cells are taken as points. */
export interface PointBits {
  /** The bits that the cell of a point must have; null: there are no points. */
  readonly wanted: number | null;
  /** The bits that distinguish points. */
  readonly point: number;
}

/** Bits of a digit of the radix sort. */
const DIGIT_BITS = 11;

/** Writes events to `into`, in the order of a digit of their actors; those of the same digit stay in order. */
async function sortByDigit(
  events: CellEvents,
  shift: number,
  into: CellEvents,
  yieldIfDue: Yield,
): Promise<void> {
  const { actors, cells, elements } = events;
  const mask = (1 << DIGIT_BITS) - 1;
  const next = new Int32Array(mask + 2);
  for (let i = 0; i < actors.length; i++) {
    next[((actors[i]! >>> shift) & mask) + 1]!++;
    if (i % EVENTS_UNTIMED === 0) await yieldIfDue();
  }
  for (let digit = 1; digit < next.length; digit++) next[digit]! += next[digit - 1]!;
  for (let i = 0; i < actors.length; i++) {
    const at = next[(actors[i]! >>> shift) & mask]!++;
    into.actors[at] = actors[i]!;
    into.cells[at] = cells[i]!;
    if (elements.length > 0) into.elements[at] = elements[i]!;
    if (i % EVENTS_UNTIMED === 0) await yieldIfDue();
  }
}

/** Returns the events in the order of their actors. A radix sort, in the events' own memory and as much again. */
async function inOrderOfActors(events: CellEvents, yieldIfDue: Yield): Promise<CellEvents> {
  let highest = 0;
  for (let i = 0; i < events.actors.length; i++) highest = Math.max(highest, events.actors[i]!);
  let from = events;
  let into: CellEvents = {
    actors: new Int32Array(events.actors.length),
    cells: new Int32Array(events.cells.length),
    elements: new Int32Array(events.elements.length),
  };
  for (let shift = 0; shift < 32 && highest >>> shift > 0; shift += DIGIT_BITS) {
    await sortByDigit(from, shift, into, yieldIfDue);
    [from, into] = [into, from];
  }
  return from;
}

/** Counts events by their cells, part by part. All events of an actor must be in the same part. */
export class CellCounting {
  /** By the point bits of the cell; only of events with a position. */
  readonly #points = new ActorCounts();
  /** Visitors by their highest point: for scrolls the greatest depth that each reached. */
  readonly #highest = new ActorCounts();
  /** By the id of the element. */
  readonly #elements = new ActorCounts();
  #events = 0;
  #visitors = 0;
  #lastVisitor = -1;
  /** The highest point of the current visitor; -1: none yet. */
  #highestPoint = -1;

  constructor(private readonly bits: PointBits) {}

  /** Adds the events of a part, whose memory it overwrites, and yields to the event loop. */
  async add(events: CellEvents): Promise<void> {
    const yieldIfDue = yielding();
    const { actors, cells, elements } = await inOrderOfActors(events, yieldIfDue);
    for (let i = 0; i < actors.length; i++) {
      this.#count(actors[i]!, cells[i]!, elements.length === 0 ? NO_ID : elements[i]!);
      if (i % EVENTS_UNTIMED === 0) await yieldIfDue();
    }
  }

  result() {
    this.#leaveVisitor();
    return {
      events: this.#events,
      visitors: this.#visitors,
      points: this.#points.rows(),
      highest: this.#highest.rows(),
      elements: this.#elements.rows(),
    };
  }

  #leaveVisitor(): void {
    if (this.#highestPoint >= 0) this.#highest.add(this.#highestPoint, this.#lastVisitor);
    this.#highestPoint = -1;
  }

  #count(actor: number, cell: number, element: number): void {
    this.#events++;
    if (this.#lastVisitor !== actor) {
      this.#leaveVisitor();
      this.#visitors++;
      this.#lastVisitor = actor;
    }
    const { wanted, point } = this.bits;
    if (wanted === null || (cell & wanted) !== wanted) return;
    if ((cell & CELL_PLACED) !== 0) {
      this.#points.add(cell & point, actor);
      this.#highestPoint = Math.max(this.#highestPoint, cell & point);
    }
    if (element !== NO_ID) this.#elements.add(element, actor);
  }
}
