import assert from "node:assert/strict";
import type { BinaryRow } from "../../src/db/binary_rows.ts";
import type { Param, Row, Sql } from "../../src/db/sql.ts";
import type { EncodedSegment } from "../../src/store/segment_builder.ts";
import { int8 } from "../support/fake_sql.ts";

const listOf = (param: Param | undefined): number[] =>
  String(param).slice(1, -1).split(",").filter((text) => text !== "").map(Number);

/** A table of segments by their ids, which notes whose heads it is asked for, and whose bytes. */
export class SegmentTable implements Sql {
  readonly asked: number[][] = [];
  readonly fetched: number[][] = [];
  readonly #segments: ReadonlyMap<number, EncodedSegment | Promise<EncodedSegment>>;

  constructor(segments: ReadonlyMap<number, EncodedSegment | Promise<EncodedSegment>>) {
    this.#segments = segments;
  }

  async binary(text: string, params: readonly Param[] = []): Promise<BinaryRow[]> {
    const ids = listOf(params[1]);
    if (text.includes("head")) {
      this.asked.push(ids);
      const known = ids.filter((id) => this.#segments.has(id));
      const headOf = async (id: number) => (await this.#segments.get(id)!).head;
      return await Promise.all(known.map(async (id) => [int8(id), await headOf(id)]));
    }
    this.fetched.push([...new Set(ids)]);
    const [starts, lengths] = [listOf(params[2]), listOf(params[3])];
    return await Promise.all(ids.map(async (id, i) => {
      const { body } = (await this.#segments.get(id))!;
      return [int8(i + 1), body.subarray(starts[i]!, starts[i]! + lengths[i]!)];
    }));
  }

  query<R extends Row>(text: string): Promise<R[]> {
    assert.fail(`No statement of a segment's bytes: ${text}`);
  }

  script(): Promise<void> {
    throw new Error("no statement of a read");
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return work(this);
  }
}
