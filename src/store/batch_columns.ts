import type { EventColumns } from "./event_columns.ts";
import { instantReader } from "./instant_text.ts";
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

const PLACE_NUMBERS = ["pointer_x", "pointer_y", "depth_px", "viewport_width"] as const;
const PLACE_FLAGS = ["fixed", "rage", "dead"] as const;

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
    const instants = [NaN, ...values.map(instantReader())];
    const delays = new Float64Array(codes.length);
    for (let i = 0; i < codes.length; i++) delays[i] = instants[codes[i]!]! - moments[i]!;
    return delays;
  }

  #cells(): Int32Array {
    const { columns } = this.batch;
    const { codes, values } = columns.texts("name");
    const isPlaced = values.map((name) => name === "click" || name === "scroll");
    const numbers = PLACE_NUMBERS.map((name) => columns.numbers(name));
    const flags = PLACE_FLAGS.map((name) => columns.flags(name));
    const orNull = (value: number) => Number.isNaN(value) ? null : value;
    const cells = new Int32Array(codes.length);
    for (let i = 0; i < codes.length; i++) {
      if (!isPlaced[codes[i]! - 1]) continue;
      const [x, y, depth, width] = numbers.map((column) => orNull(column[i]!));
      const [fixed, rage, dead] = flags.map((column) => column[i] === FLAG_CODES.yes);
      cells[i] = cellOf({
        name: values[codes[i]! - 1]!,
        pointer_x: x!,
        pointer_y: y!,
        depth_px: depth!,
        viewport_width: width!,
        fixed: fixed!,
        rage: rage!,
        dead: dead!,
      });
    }
    return cells;
  }
}
