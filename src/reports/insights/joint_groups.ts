import { INSIGHT_JOINT_CELLS_MAX } from "../../limits.ts";
import { SESSION_IDS, type SessionId } from "../visitors/session_values.ts";
import type { Dimension } from "./insight_candidates.ts";
import type { ValuesOf } from "./insight_lines.ts";
import { type IdGroups, jointCell, type JointIds } from "./insight_visitor.ts";
import { type Slice, sliceKey } from "./joint_cells.ts";

/** A slice of a value, by the value's number. */
export interface NumberedSlice extends Slice {
  readonly dimension: Dimension;
  readonly number: number;
}

/** What ids of one kind are told apart by. */
interface Grouping {
  readonly groupOf: Int32Array;
  readonly count: number;
}

/** Ids of one kind, told apart by the slices that they are of. */
class Groups {
  readonly slices: NumberedSlice[] = [];
  readonly #values: ValuesOf;
  readonly #idsFrom: number;
  #grouping: Grouping;

  constructor(kind: SessionId, values: ValuesOf) {
    const known = [...values.values()].find(({ of }) => of === kind);
    this.#values = values;
    this.#idsFrom = known?.idsFrom ?? 0;
    this.#grouping = { groupOf: new Int32Array(known?.numberOf.length ?? 0), count: 1 };
  }

  get count(): number {
    return this.#grouping.count;
  }

  /** How they would be with one more slice told apart. */
  with({ dimension, number }: NumberedSlice): Grouping {
    const { numberOf } = this.#values.get(dimension)!;
    const renumbered = new Int32Array(2 * this.count).fill(-1);
    let count = 0;
    const groupOf = this.#grouping.groupOf.map((group, place) => {
      const told = 2 * group + Number(numberOf[place] === number);
      if (renumbered[told] === -1) renumbered[told] = count++;
      return renumbered[told]!;
    });
    return { groupOf, count };
  }

  take(slice: NumberedSlice, grouping: Grouping): void {
    this.#grouping = grouping;
    this.slices.push(slice);
  }

  /** Of each group whether it is of a slice. */
  inSlice({ dimension, number }: NumberedSlice): Uint8Array {
    const { numberOf } = this.#values.get(dimension)!;
    const inSlice = new Uint8Array(this.count);
    for (const [place, group] of this.#grouping.groupOf.entries()) {
      if (numberOf[place] === number) inSlice[group] = 1;
    }
    return inSlice;
  }

  ids(): IdGroups {
    return { idsFrom: this.#idsFrom, ...this.#grouping };
  }
}

interface JointGroups {
  readonly ids: JointIds;
  /** How many cells there are. */
  readonly count: number;
  /** Of each slice that is told apart, by its key, the cells that it holds. */
  readonly holds: ReadonlyMap<string, Uint8Array>;
}

/**
 * Cells by which slices are told apart: as many of these, in order, as there may be cells for. A slice
 * that would make more is left out, and those after it are tried.
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
  const [traffics, entryPaths, contexts] = kinds.map((kind) => kind.ids()) as [
    IdGroups,
    IdGroups,
    IdGroups,
  ];
  const ids: JointIds = { traffics, entryPaths, contexts };
  const count = traffics.count * entryPaths.count * contexts.count;
  const holds = new Map(
    kinds.flatMap((kind, place) =>
      kind.slices.map((slice) =>
        [sliceKey(slice), cellsOf(ids, count, place, kind.inSlice(slice))] as const
      )
    ),
  );
  return { ids, count, holds };
}

/** The cells whose group of one kind is in a slice. */
function cellsOf(ids: JointIds, count: number, place: number, inSlice: Uint8Array): Uint8Array {
  const cells = new Uint8Array(count);
  for (let traffic = 0; traffic < ids.traffics.count; traffic++) {
    for (let entryPath = 0; entryPath < ids.entryPaths.count; entryPath++) {
      for (let context = 0; context < ids.contexts.count; context++) {
        const group = [traffic, entryPath, context][place]!;
        cells[jointCell(ids, traffic, entryPath, context)] = inSlice[group]!;
      }
    }
  }
  return cells;
}
