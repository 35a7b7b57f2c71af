import type { EventColumns } from "./event_columns.ts";
import { InstantReader } from "./instant_text.ts";
import { cellOf } from "./heatmap_cell.ts";
import {
  FLAG_CODES,
  FLAG_COLUMNS,
  type FlagName,
  type IntegerName,
  type NumberName,
} from "./segment_columns.ts";

/** The columns that hold numbers of the project's dictionaries. */
type NumberedColumn = "names" | "paths" | "contexts" | "traffics" | "titles" | "referrers";

/** Events that are not stored in segments yet, in any order. */
export interface EventBatch {
  readonly columns: EventColumns;
  /** The identity of each event. */
  readonly identities: Int32Array;
  readonly moments: Float64Array;
  /** 16 bytes each. */
  readonly ids: Uint8Array;
  readonly numbers: Readonly<Record<NumberedColumn, Int32Array>>;
}

/**
 * The numbers of a batch's events by column, in the order of the batch. Each column is made once, though the
 * batch may become several segments, one per span of time.
 */
export class BatchColumns {
  readonly #integers = new Map<IntegerName, Int32Array>();
  readonly #numbers = new Map<NumberName, Float64Array>();

  constructor(readonly batch: EventBatch) {}

  integers(name: IntegerName): Int32Array {
    return this.#integers.getOrInsertComputed(name, () => {
      if (name === "cells") return this.#cells();
      const { columns, numbers } = this.batch;
      return (FLAG_COLUMNS as readonly string[]).includes(name)
        ? columns.flags(name as FlagName)
        : numbers[name as keyof EventBatch["numbers"]];
    });
  }

  numbers(name: NumberName): Float64Array {
    return this.#numbers.getOrInsertComputed(
      name,
      () =>
        name === "received_at" || name === "sent_at"
          ? this.#delays(name)
          : this.batch.columns.numbers(name),
    );
  }

  /** Returns the milliseconds from the time of each event to another of its times; NaN: it has none. */
  #delays(name: "received_at" | "sent_at"): Float64Array {
    const { columns, moments } = this.batch;
    const { codes, values } = columns.texts(name);
    const reader = new InstantReader();
    const instants = [NaN, ...values.map((text) => reader.msOf(text))];
    const delays = new Float64Array(codes.length);
    for (let i = 0; i < codes.length; i++) delays[i] = instants[codes[i]!]! - moments[i]!;
    return delays;
  }

  #cells(): Int32Array {
    const { columns } = this.batch;
    const { codes, values } = columns.texts("name");
    const isPlaced = [false, ...values.map((name) => name === "click" || name === "scroll")];
    const [x, y] = [this.numbers("pointer_x"), this.numbers("pointer_y")];
    const [depth, width] = [this.numbers("depth_px"), this.numbers("viewport_width")];
    const [fixed, rage] = [this.integers("fixed"), this.integers("rage")];
    const dead = this.integers("dead");
    const orNull = (value: number) => Number.isNaN(value) ? null : value;
    const cells = new Int32Array(codes.length);
    for (let i = 0; i < codes.length; i++) {
      if (!isPlaced[codes[i]!]) continue;
      cells[i] = cellOf({
        name: values[codes[i]! - 1]!,
        pointer_x: orNull(x[i]!),
        pointer_y: orNull(y[i]!),
        depth_px: orNull(depth[i]!),
        viewport_width: orNull(width[i]!),
        fixed: fixed[i] === FLAG_CODES.yes,
        rage: rage[i] === FLAG_CODES.yes,
        dead: dead[i] === FLAG_CODES.yes,
      });
    }
    return cells;
  }
}
