import type { Sql } from "../db/sql.ts";
import { ID_BYTES } from "../store/id_codec.ts";
import { fetchBlocks, fetchHeadsById } from "../store/stored_segments.ts";

/**
 * Looks up the ids of events, given their segments and their places there. Returns 16 bytes each, in the
 * same order. Throws where a segment is gone: `sql` must read the snapshot that it was loaded from.
 */
export async function lookUpIds(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
  places: readonly number[],
): Promise<Uint8Array<ArrayBuffer>> {
  const ids = new Uint8Array(places.length * ID_BYTES);
  const heads = await fetchHeadsById(sql, projectId, new Set(segmentIds));
  const blockOf = (i: number) => {
    const stored = heads.get(segmentIds[i]!);
    if (stored === undefined) throw new Error(`Segment ${segmentIds[i]} is gone`);
    return Math.floor(places[i]! / stored.head.blockEvents);
  };
  const byBlock = Map.groupBy(places.keys(), (i) => `${segmentIds[i]} ${blockOf(i)}`);
  for (const indices of byBlock.values()) {
    const first = blockOf(indices[0]!);
    const wanted = { ...heads.get(segmentIds[indices[0]!]!)!, blocks: { first, end: first + 1 } };
    const [reader] = await fetchBlocks(sql, projectId, [wanted], ["times", "ids"]);
    const blockIds = reader!.ids();
    for (const i of indices) {
      const at = ID_BYTES * (places[i]! - reader!.firstPlace);
      ids.set(blockIds.subarray(at, at + ID_BYTES), ID_BYTES * i);
    }
  }
  return ids;
}
