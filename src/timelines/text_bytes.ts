import { type ColumnName, kindOf } from "../store/segment_columns.ts";
import { allBlocks, type SegmentHead, slotOf, spanOf } from "../store/segment_head.ts";

/** The bytes of texts per event that every column of a property may have: numbers, plans, currencies. */
const SHORT_TEXT_BYTES = 8;
/** The same of a property without a slot, whose values lie among those of others: few events have it. */
const OTHERS_TEXT_BYTES = 256;

/**
 * Returns about how many bytes the texts of a property take, beyond those of short ones. A segment knows what
 * all of its texts take: the property has the share of these that it has of what is stored of them.
 */
function textBytesOf(head: SegmentHead, key: string): number {
  const storedOf = (name: ColumnName) => spanOf(head, name, allBlocks(head)).bytes;
  const slot = slotOf(head, key);
  const own = storedOf(slot ?? "properties");
  if (own === 0) return 0;
  const all = [...head.places.keys()].filter((name) => kindOf(name) === "texts")
    .reduce((sum, name) => sum + storedOf(name), 0);
  const short = slot === null ? OTHERS_TEXT_BYTES : SHORT_TEXT_BYTES;
  return Math.max(0, head.textBytes * own / all - short * head.events);
}

/** Returns about how many bytes the texts of properties take of a segment, beyond those of short ones. */
export function textBytesIn(head: SegmentHead, properties: readonly string[]): number {
  return properties.reduce((sum, key) => sum + textBytesOf(head, key), 0);
}
