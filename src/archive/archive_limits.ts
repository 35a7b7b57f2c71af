/** Every bound of archives, with its unit in its name. */
const MEBIBYTE = 1024 * 1024;

/** Events of one block of an archive, and about how many bytes of JSON they are: what is held at once. */
export const ARCHIVED_EVENTS_AIM = 2_000;
export const ARCHIVED_JSON_LENGTH_AIM = 1 * MEBIBYTE;
/** Rows of other tables that are read and stored in one statement. */
export const ARCHIVED_ROWS_AT_ONCE = 500;
/** Bytes of one frame: of a picture, as a rule, whose bytes are written as hexadecimal digits. */
export const FRAME_BYTES_MAX = 64 * MEBIBYTE;
/** Bytes of what a frame holds once it is decompressed. */
export const FRAME_CONTENT_BYTES_MAX = 192 * MEBIBYTE;
/** Bodies that hold frames, of all requests at once. */
export const RESTORE_BODIES_BYTES_MAX = 192 * MEBIBYTE;
/** How long merging of segments is held at a time, and how often that is renewed. */
export const MERGING_HELD_MS = 60_000;
export const MERGING_RENEWED_MS = 10_000;
/** How long a move goes on without a word of the command that moves. */
export const MOVE_LEASE_MS = 15_000;
export const MOVE_RENEWED_MS = 3_000;
/** Rows of the journal that are read at once. */
export const JOURNAL_ROWS_AT_ONCE = 50;
/** Events that may have come meanwhile, for the pause to begin: a second's work, or two. */
export const MOVE_PAUSE_EVENTS_MAX = 5_000;
