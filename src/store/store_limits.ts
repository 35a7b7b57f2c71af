/** Limits of segments and of the journal, each with its unit. */
const MEBIBYTE = 1024 * 1024;

/** How long a journal row stays after its projection: live tails read it, and their cursors are valid as long. */
export const JOURNAL_KEPT_MS = 48 * 3_600_000;

/** At least this many segments of about one size are merged, into one of at most `SEGMENT_EVENTS_MAX` events. */
export const SEGMENTS_MERGED = 8;
/** Spans of time whose segments are merged before the segments of the project are listed again. */
export const MERGES_AT_ONCE_MAX = 100;
export const SEGMENT_EVENTS_MAX = 262_144;
/** A segment with more bytes of distinct texts is not merged. */
export const SEGMENT_TEXT_BYTES_MAX = 64 * MEBIBYTE;
/** A block is read as a whole: its maximum number of events, and the bytes of text it aims to stay below. */
export const BLOCK_EVENTS_MAX = 16_384;
export const BLOCK_TEXT_BYTES_AIM = 4 * MEBIBYTE;
/** Properties per project with a column of their own in segments: the first that become frequent. */
export const PROPERTY_SLOTS_MAX = 64;
/** The least events of a segment that such a property is on. */
export const PROPERTY_SLOT_EVENTS_MIN = 256;
/** The least events of a segment with such columns: only merging makes them, not the projection. */
export const SLOTTED_EVENTS_MIN = BLOCK_EVENTS_MAX;
/** The longest key that gets a slot, as JSON. */
export const PROPERTY_SLOT_KEY_BYTES_MAX = 200;
/** Distinct property keys that are counted per segment, at 100 bytes each; others get no slot. */
export const PROPERTY_KEYS_COUNTED_MAX = 65_536;
/** How long work on segments runs before it yields to the event loop. */
export const YIELD_MS = 3;
/** Each span of this length (24.8 days) has its own segments, so times within one take 31 bits. */
export const SEGMENT_SPAN_MS = 2 ** 31;
/** Bytes of segments that one statement fetches; a single column may exceed this. */
export const FETCH_BYTES_AIM = 16 * MEBIBYTE;
/** About how many bytes of small segments, or of their blocks, one statement stores or reads. */
export const SMALL_BYTES_AIM = 4 * MEBIBYTE;
/** About how many of an actor's scattered events are read at once: each may take 64 KiB. */
export const SPAN_EVENTS_AIM = 250;
