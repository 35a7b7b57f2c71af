import type { Param, Row, Sql } from "../../src/db/sql.ts";
import type { EncodedSegment } from "../../src/store/segment_builder.ts";

const listOf = (param: Param | undefined): number[] =>
  String(param).slice(1, -1).split(",").filter((text) => text !== "").map(Number);

/** A table of segments by their ids, which notes whose heads it is asked for. */
export class SegmentTable implements Sql {
  readonly asked: number[][] = [];
  readonly #segments: ReadonlyMap<number, EncodedSegment | Promise<EncodedSegment>>;

  constructor(segments: ReadonlyMap<number, EncodedSegment | Promise<EncodedSegment>>) {
    this.#segments = segments;
  }

  async query<R extends Row>(text: string, params: readonly Param[] = []): Promise<R[]> {
    const ids = listOf(params[1]);
    if (text.includes("encode(head")) {
      this.asked.push(ids);
      const known = ids.filter((id) => this.#segments.has(id));
      return await Promise.all(known.map(async (segment_id) => {
        const head = (await this.#segments.get(segment_id)!).head.toBase64();
        return { segment_id, head } as unknown as R;
      }));
    }
    const [starts, lengths] = [listOf(params[2]), listOf(params[3])];
    return await Promise.all(ids.map(async (id, i) => {
      const { body } = (await this.#segments.get(id))!;
      const bytes = body.subarray(starts[i]!, starts[i]! + lengths[i]!).toBase64();
      return { number: i + 1, bytes } as unknown as R;
    }));
  }

  script(): Promise<void> {
    throw new Error("no statement of a read");
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return work(this);
  }
}
