import { Buffer } from "node:buffer";
import type { Sql } from "../db/sql.ts";
import { ID_BYTES } from "./id_codec.ts";
import { allBlocks } from "./segment_head.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { fetchBlocks, fetchHeads } from "./stored_segments.ts";
import type { TextColumn } from "./text_codec.ts";
import { textAt, uuidOf } from "./whole_events.ts";
import { yielding } from "./yielding.ts";

/** An event that carries an anonymous id, and the identity that did it. */
export interface Carrier {
  readonly identity: number;
  readonly ms: number;
  readonly eventId: string;
}

const isEarlier = (one: Carrier, than: Carrier): boolean =>
  one.ms < than.ms || one.ms === than.ms && one.eventId < than.eventId;

/**
 * Of so many texts at most each is searched for in a column's bytes, at 1 GB/s; making texts of all its
 * values takes a hundred times as long, whatever is wanted.
 */
const SEARCHED_MAX = 100;

/** Of each value of a column the wanted text that it is; of most blocks it is none. */
function wantedValues(column: TextColumn, wanted: ReadonlySet<string>): Map<number, string> {
  const { buffer, byteOffset, length } = column.bytes;
  const all = Buffer.from(buffer, byteOffset, length);
  const found = new Map<number, string>();
  const mayHold = wanted.size > SEARCHED_MAX || [...wanted].some((text) => all.includes(text));
  if (!mayHold) return found;
  for (let value = 0; value < column.ends.length; value++) {
    const text = textAt(column, value);
    if (wanted.has(text)) found.set(value + 1, text);
  }
  return found;
}

async function visitCarriers(
  fetched: () => Promise<SegmentReader>,
  column: TextColumn,
  values: ReadonlyMap<number, string>,
  visit: (text: string, carrier: Carrier) => void,
): Promise<void> {
  const reader = await fetched();
  const moments = reader.moments();
  const ids = reader.ids(moments);
  const { identities, starts } = reader.runs();
  for (const [run, identity] of identities.entries()) {
    for (let at = starts[run]!; at < starts[run + 1]!; at++) {
      const text = values.get(column.codes[at]!);
      if (text === undefined) continue;
      visit(text, { identity, ms: moments[at]!, eventId: uuidOf(ids, ID_BYTES * at) });
    }
  }
}

/** Of each of these anonymous ids the earliest stored event that carries it. `sql` must see one moment. */
export async function earliestCarriers(
  sql: Sql,
  projectId: number,
  anonymousIds: ReadonlySet<string>,
): Promise<Map<string, Carrier>> {
  const earliest = new Map<string, Carrier>();
  if (anonymousIds.size === 0) return earliest;
  const pause = yielding();
  for (const stored of await fetchHeads(sql, projectId)) {
    const all = allBlocks(stored.head);
    for (let first = 0; first < all.end; first++) {
      const wanted = [{ ...stored, blocks: { first, end: first + 1 } }];
      const [texts] = await fetchBlocks(sql, projectId, wanted, ["anonymous_id"]);
      const column = texts!.texts("anonymous_id");
      const values = wantedValues(column, anonymousIds);
      if (values.size > 0) {
        const others = ["times", "identities", "runs", "ids"] as const;
        const fetched = async () => (await fetchBlocks(sql, projectId, wanted, others))[0]!;
        await visitCarriers(fetched, column, values, (text, carrier) => {
          const known = earliest.get(text);
          if (known === undefined || isEarlier(carrier, known)) earliest.set(text, carrier);
        });
      }
      await pause();
    }
  }
  return earliest;
}
