/** Limits of segments, each with its unit. */
const MEBIBYTE = 1024 * 1024;

/** At least this many segments of about one size are merged, into one of at most `SEGMENT_EVENTS_MAX` events. */
export const SEGMENTS_MERGED = 8;
/** Spans of time of which segments are merged before those of the project are listed anew. */
export const MERGES_AT_ONCE_MAX = 100;
export const SEGMENT_EVENTS_MAX = 262_144;
/** A segment whose distinct texts take more bytes than this is not merged. */
export const SEGMENT_TEXT_BYTES_MAX = 64 * MEBIBYTE;
/** A block is read as a whole: its maximum of events, and the bytes of texts it should stay below. */
export const BLOCK_EVENTS_MAX = 16_384;
export const BLOCK_TEXT_BYTES_AIM = 4 * MEBIBYTE;
/** Properties that have a column of their own in segments of a project: those that were frequent first. */
export const PROPERTY_SLOTS_MAX = 64;
/** Events of a segment that such a property is on at least. */
export const PROPERTY_SLOT_EVENTS_MIN = 256;
/** Events of a segment with such columns at least: merging makes them, so that the projection need not. */
export const SLOTTED_EVENTS_MIN = BLOCK_EVENTS_MAX;
/** The longest key that gets a slot, as JSON. */
export const PROPERTY_SLOT_KEY_BYTES_MAX = 200;
/** Different keys of a segment's properties that are counted, which takes 100 bytes each; others get no slot. */
export const PROPERTY_KEYS_COUNTED_MAX = 65_536;
/** How long work on segments runs before it yields to the event loop. */
export const YIELD_MS = 3;
/** Each span of this length (24.8 days) has its own segments, so times within one take 31 bits. */
export const SEGMENT_SPAN_MS = 2 ** 31;
/** Bytes of segments that one statement fetches; a single column may exceed this. */
export const FETCH_BYTES_AIM = 16 * MEBIBYTE;
/** About how many bytes of small segments, or blocks of them, one statement stores or reads whole. */
export const SMALL_BYTES_AIM = 4 * MEBIBYTE;
/** About how many of somebody's events that lie far apart are read at once: each may take 64 KiB. */
export const SPAN_EVENTS_AIM = 250;
