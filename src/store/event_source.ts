import type { BatchColumns } from "./batch_columns.ts";
import { idsAt } from "./id_codec.ts";
import type { IntegerColumn } from "./integer_codec.ts";
import type { IntegerName, NumberName, SlotName, TextName } from "./segment_columns.ts";
import type { Runs, SegmentEvents, SegmentReader } from "./segment_reader.ts";
import type { TextColumn } from "./text_codec.ts";

/** The columns of events that a segment is built from; each identity's events are ordered by time and id. */
export type EventSource = SegmentEvents & Pick<SegmentReader, "runs" | "textBytes">;

const UTF8 = new TextEncoder();

/** Encodes texts in UTF-8, one after the other. */
function encodedTexts(values: readonly string[]): Pick<TextColumn, "ends" | "bytes"> {
  const bytes = UTF8.encode(values.join(""));
  const ends = new Uint32Array(values.length);
  let end = 0;
  for (const [i, { length }] of values.entries()) ends[i] = end += length;
  if (end === bytes.length) return { ends, bytes };
  // Some text is not ASCII: a character may take more than a byte.
  end = 0;
  for (const [i, value] of values.entries()) ends[i] = end += UTF8.encode(value).length;
  if (end === bytes.length) return { ends, bytes };
  // A text may end with half of a surrogate pair and the next one begin with the other half: encoded
  // together, they would become one character.
  return { ends, bytes: UTF8.encode(values.map((value) => value.toWellFormed()).join("")) };
}

/** Events of a batch, in the order of the segment they become. */
export class NewEvents implements EventSource {
  readonly events: number;
  readonly slotKeys = [];

  /**
   * @param order the places of the events in the batch, in the order of the segment
   * @param textBytes about how many bytes their texts take, each once
   */
  constructor(
    private readonly columns: BatchColumns,
    readonly order: Uint32Array,
    readonly textBytes: number,
  ) {
    this.events = order.length;
  }

  runs(): Runs {
    const { identities: identityOf } = this.columns.batch;
    const identities: number[] = [];
    const starts: number[] = [];
    let last = NaN;
    for (let at = 0; at < this.events; at++) {
      const identity = identityOf[this.order[at]!]!;
      if (identity === last) continue;
      identities.push(last = identity);
      starts.push(at);
    }
    starts.push(this.events);
    return { identities: Int32Array.from(identities), starts: Uint32Array.from(starts) };
  }

  moments(): Float64Array {
    return this.#ordered(this.columns.batch.moments, new Float64Array(this.events));
  }

  ids(): Uint8Array {
    return idsAt(this.columns.batch.ids, this.order);
  }

  integers(name: IntegerName): IntegerColumn {
    return this.#ordered(this.columns.integers(name), new Int32Array(this.events));
  }

  numbers(name: NumberName): Float64Array {
    return this.#ordered(this.columns.numbers(name), new Float64Array(this.events));
  }

  texts(name: TextName | SlotName): TextColumn {
    const { codes, values } = this.columns.batch.columns.texts(name as TextName);
    const own = this.#ordered(codes, new Int32Array(this.events));
    if (this.events === codes.length) return { ...encodedTexts(values), codes: own };
    // Only texts of this segment's events are encoded.
    const ownCodes = new Map<number, number>();
    const ownValues: string[] = [];
    for (let at = 0; at < own.length; at++) {
      const code = own[at]!;
      if (code === 0) continue;
      own[at] = ownCodes.getOrInsertComputed(code, () => ownValues.push(values[code - 1]!));
    }
    return { ...encodedTexts(ownValues), codes: own };
  }

  #ordered<A extends Int32Array | Float64Array>(all: A, into: A): A {
    const { order } = this;
    for (let at = 0; at < order.length; at++) into[at] = all[order[at]!]!;
    return into;
  }
}
