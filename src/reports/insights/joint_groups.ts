import { INSIGHT_JOINT_CELLS_MAX } from "../../limits.ts";
import { SESSION_IDS, type SessionId } from "../visitors/session_values.ts";
import type { Dimension } from "./insight_candidates.ts";
import type { ValuesOf } from "./insight_lines.ts";
import type { IdGroups, JointIds } from "./insight_visitor.ts";
import { type Slice, sliceKey } from "./joint_cells.ts";

/** A slice with the number of its value. */
export interface NumberedSlice extends Slice {
  readonly dimension: Dimension;
  readonly number: number;
}

/** Groups the ids of one kind by the slices that they belong to. */
class Groups {
  readonly slices: NumberedSlice[] = [];
  readonly #values: ValuesOf;
  ids: IdGroups;

  constructor(kind: SessionId, values: ValuesOf) {
    const known = [...values.values()].find(({ of }) => of === kind);
    this.#values = values;
    const groupOf = new Int32Array(known?.numberOf.length ?? 0);
    this.ids = { idsFrom: known?.idsFrom ?? 0, groupOf, count: 1 };
  }

  get count(): number {
    return this.ids.count;
  }

  /** Splits the groups by one more slice. */
  with({ dimension, number }: NumberedSlice): IdGroups {
    const { numberOf } = this.#values.get(dimension)!;
    const renumbered = new Int32Array(2 * this.count).fill(-1);
    let count = 0;
    const groupOf = this.ids.groupOf.map((group, place) => {
      const split = 2 * group + Number(numberOf[place] === number);
      if (renumbered[split] === -1) renumbered[split] = count++;
      return renumbered[split]!;
    });
    return { ...this.ids, groupOf, count };
  }

  take(slice: NumberedSlice, ids: IdGroups): void {
    this.ids = ids;
    this.slices.push(slice);
  }

  /** Returns 1 at each group of the slice. */
  inSlice({ dimension, number }: NumberedSlice): Uint8Array {
    const { numberOf } = this.#values.get(dimension)!;
    const inSlice = new Uint8Array(this.count);
    for (const [place, group] of this.ids.groupOf.entries()) {
      if (numberOf[place] === number) inSlice[group] = 1;
    }
    return inSlice;
  }
}

interface JointGroups {
  readonly ids: JointIds;
  /** How many cells there are. */
  readonly count: number;
  /** By the key of each slice that has cells of its own: 1 at these cells. */
  readonly holds: ReadonlyMap<string, Uint8Array>;
}

/**
 * Makes cells such that each slice is a set of cells. A slice that would make more than `cellsMax` cells is left
 * out; those after it are still tried.
 */
export function groupBySlices(
  values: ValuesOf,
  slices: readonly NumberedSlice[],
  cellsMax = INSIGHT_JOINT_CELLS_MAX,
): JointGroups {
  const kinds = SESSION_IDS.map((kind) => new Groups(kind, values));
  for (const slice of slices) {
    const own = kinds[SESSION_IDS.indexOf(values.get(slice.dimension)!.of)]!;
    const next = own.with(slice);
    const cells = kinds.reduce((n, kind) => n * (kind === own ? next.count : kind.count), 1);
    if (cells <= cellsMax) own.take(slice, next);
  }
  const [traffics, entryPaths, contexts] = kinds.map((kind) => kind.ids) as [
    IdGroups,
    IdGroups,
    IdGroups,
  ];
  const count = traffics.count * entryPaths.count * contexts.count;
  const holds = new Map(
    kinds.flatMap((kind, place) =>
      kind.slices.map((slice) =>
        [sliceKey(slice), cellsOf(kinds, place, kind.inSlice(slice))] as const
      )
    ),
  );
  return { ids: { traffics, entryPaths, contexts }, count, holds };
}

/** Returns 1 at each cell whose group of the kind at `place` is in the slice: see `jointCell`. */
function cellsOf(kinds: readonly Groups[], place: number, inSlice: Uint8Array): Uint8Array {
  const cellsIn = (some: readonly Groups[]) => some.reduce((cells, { count }) => cells * count, 1);
  const width = cellsIn(kinds.slice(place + 1));
  return Uint8Array.from(
    { length: cellsIn(kinds) },
    (_, cell) => inSlice[Math.floor(cell / width) % kinds[place]!.count]!,
  );
}
