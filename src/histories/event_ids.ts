import { arrayLiteral, type Sql } from "../db/sql.ts";
import { HISTORY_IDS_LOOKED_UP } from "../limits.ts";
import { ID_BYTES } from "./segment.ts";

const LOOK_UP = `
SELECT encode(string_agg(substr(h.ids, ${ID_BYTES} * e.place + 1, ${ID_BYTES}), ''::bytea ORDER BY e.number), 'base64') AS ids
FROM unnest($1::text::int8[], $2::text::int[]) WITH ORDINALITY AS e (segment_id, place, number)
JOIN history_segments h ON h.project_id = $3::int AND h.segment_id = e.segment_id`;

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
  const ids = new Uint8Array(places.length * ID_BYTES);
  for (let from = 0; from < places.length; from += HISTORY_IDS_LOOKED_UP) {
    const to = Math.min(from + HISTORY_IDS_LOOKED_UP, places.length);
    const [row] = await sql.query<{ ids: string | null }>(LOOK_UP, [
      arrayLiteral(segmentIds.slice(from, to)),
      arrayLiteral(places.slice(from, to)),
      projectId,
    ]);
    const found = Uint8Array.fromBase64(row!.ids ?? "");
    if (found.length !== (to - from) * ID_BYTES) throw new Error("Ids of a history are gone");
    ids.set(found, from * ID_BYTES);
  }
  return ids;
}
