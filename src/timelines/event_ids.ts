import type { Sql } from "../db/sql.ts";
import { ID_BYTES } from "../store/id_codec.ts";
import { fetchBlocks, fetchHeadsById } from "../store/stored_segments.ts";

/**
 * Ids of events, 16 bytes each, in the order in which the events are named: by their segment and
 * their place in it. Throws where a segment is gone: `sql` must see the moment that it was loaded at.
 */
export async function lookUpIds(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
  places: readonly number[],
): Promise<Uint8Array<ArrayBuffer>> {
  const found = new Uint8Array(places.length * ID_BYTES);
  const heads = await fetchHeadsById(sql, projectId, new Set(segmentIds));
  const blockOf = (i: number) => {
    const stored = heads.get(segmentIds[i]!);
    if (stored === undefined) throw new Error(`Segment ${segmentIds[i]} is gone`);
    return Math.floor(places[i]! / stored.head.blockEvents);
  };
  const byBlock = Map.groupBy(places.keys(), (i) => `${segmentIds[i]} ${blockOf(i)}`);
  for (const numbers of byBlock.values()) {
    const first = blockOf(numbers[0]!);
    const wanted = { ...heads.get(segmentIds[numbers[0]!]!)!, blocks: { first, end: first + 1 } };
    const [reader] = await fetchBlocks(sql, projectId, [wanted], ["times", "ids"]);
    const ids = reader!.ids();
    for (const i of numbers) {
      const at = ID_BYTES * (places[i]! - reader!.firstPlace);
      found.set(ids.subarray(at, at + ID_BYTES), ID_BYTES * i);
    }
  }
  return found;
}
