/** Limits of archives, with their units in their names. */
const MEBIBYTE = 1024 * 1024;

/** Events of one block of an archive, and the length of their JSON, about: this much is in memory. */
export const ARCHIVED_EVENTS_AIM = 2_000;
export const ARCHIVED_JSON_LENGTH_AIM = 1 * MEBIBYTE;
/** Rows of other tables that are read and stored in one statement. */
export const ARCHIVED_ROWS_AT_ONCE = 500;
/** Bytes of one frame; pictures make the largest, as their bytes are written as hexadecimal digits. */
export const FRAME_BYTES_MAX = 64 * MEBIBYTE;
/** Bytes of the decompressed content of a frame. */
export const FRAME_CONTENT_BYTES_MAX = 192 * MEBIBYTE;
/** Bytes of the bodies with frames, of all requests at once. */
export const RESTORE_BODIES_BYTES_MAX = 192 * MEBIBYTE;
/** How long merging of segments is held without renewal, and how often that is renewed. */
export const MERGING_HELD_MS = 60_000;
export const MERGING_RENEWED_MS = 10_000;
/** How long a move continues without a request from `footfall move`, and how often that sends one. */
export const MOVE_LEASE_MS = 15_000;
export const MOVE_RENEWED_MS = 3_000;
/** Rows of the journal that are read at once. */
export const JOURNAL_ROWS_AT_ONCE = 50;
/** The pause of a move begins once at most this many events are left to copy: one or two seconds' work. */
export const MOVE_PAUSE_EVENTS_MAX = 5_000;
