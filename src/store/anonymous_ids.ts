import { Buffer } from "node:buffer";
import type { Sql } from "../db/sql.ts";
import { ID_BYTES, uuidOf } from "./id_codec.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { eachFetched, fetchBlocks } from "./stored_segments.ts";
import type { TextColumn } from "./text_codec.ts";
import { selectedBlocks } from "./timed_events.ts";
import { textAt } from "./whole_properties.ts";

/** An event that carries an anonymous id, and the event's identity. */
interface Carrier {
  readonly identity: number;
  readonly ms: number;
  readonly eventId: string;
}

/** Whether an event comes before another one: by time, then by id. */
export function isEarlier(
  one: Pick<Carrier, "ms" | "eventId">,
  than: Pick<Carrier, "ms" | "eventId">,
): boolean {
  return one.ms < than.ms || one.ms === than.ms && one.eventId < than.eventId;
}

/**
 * Up to this many texts are searched for one by one in a column's bytes, at 1 GB/s each. Beyond, all values
 * are decoded once, which takes as long as a hundred searches.
 */
const SEARCHED_MAX = 100;

/** Maps the codes of a column to the wanted texts among its values; most blocks hold none of them. */
function wantedValues(column: TextColumn, wanted: ReadonlySet<string>): Map<number, string> {
  const { buffer, byteOffset, length } = column.bytes;
  const all = Buffer.from(buffer, byteOffset, length);
  const textOf = new Map<number, string>();
  const mayHold = wanted.size > SEARCHED_MAX || [...wanted].some((text) => all.includes(text));
  if (!mayHold) return textOf;
  for (let value = 0; value < column.ends.length; value++) {
    const text = textAt(column, value);
    if (wanted.has(text)) textOf.set(value + 1, text);
  }
  return textOf;
}

const CARRIER_COLUMNS = ["times", "identities", "runs", "ids"] as const;

function visitCarriers(
  reader: SegmentReader,
  column: TextColumn,
  values: ReadonlyMap<number, string>,
  visit: (text: string, carrier: Carrier) => void,
): void {
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

/** Finds the earliest stored event that carries each of these anonymous ids. `sql` must read one snapshot. */
export async function earliestCarriers(
  sql: Sql,
  projectId: number,
  anonymousIds: ReadonlySet<string>,
): Promise<Map<string, Carrier>> {
  const earliest = new Map<string, Carrier>();
  if (anonymousIds.size === 0) return earliest;
  const blocks = await selectedBlocks(sql, projectId, {});
  let next = 0;
  for await (const texts of eachFetched(sql, projectId, blocks, ["anonymous_id"])) {
    const block = blocks[next++]!;
    const column = texts.texts("anonymous_id");
    const values = wantedValues(column, anonymousIds);
    if (values.size === 0) continue;
    const [reader] = await fetchBlocks(sql, projectId, [block], CARRIER_COLUMNS);
    visitCarriers(reader!, column, values, (text, carrier) => {
      const known = earliest.get(text);
      if (known === undefined || isEarlier(carrier, known)) earliest.set(text, carrier);
    });
  }
  return earliest;
}
