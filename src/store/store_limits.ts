/** Bounds of what is stored as segments: each with its unit. */
const MEBIBYTE = 1024 * 1024;

/** As many segments of about one size are merged, or more, up to so many events. */
export const SEGMENTS_MERGED = 8;
export const SEGMENT_EVENTS_MAX = 262_144;
/** Bytes of the different texts of a segment, beyond which nothing is merged with it. */
export const SEGMENT_TEXT_BYTES_MAX = 64 * MEBIBYTE;
/** Events of a block, which is read as a whole, and bytes of texts that it should not hold more of. */
export const BLOCK_EVENTS_MAX = 16_384;
export const BLOCK_TEXT_BYTES_AIM = 4 * MEBIBYTE;
/** How long work on segments goes on before others have their turn. */
export const YIELD_MS = 3;
/** Spans of time that have segments of their own (24.8 days): times within one take 31 bits. */
export const SEGMENT_SPAN_MS = 2 ** 31;
/** Bytes of segments that one statement fetches; a single column may be more. */
export const FETCH_BYTES_AIM = 16 * MEBIBYTE;
