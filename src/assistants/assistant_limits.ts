/** Limits of what an assistant may ask, and of answers, since a model reads all of each. */

/** Bytes of an answer as JSON, in UTF-8: some 10,000 tokens, while models have room for 100,000 and more. */
export const ASSISTANT_ANSWER_BYTES_MAX = 32 * 1024;
/** Rows of one page: more would be cut anyway. */
export const ASSISTANT_ROWS_MAX = 100;
/** Levels of a parameter that is given as JSON; the reads themselves allow fewer. */
export const ASSISTANT_ARGUMENT_LEVELS_MAX = 20;

/** What is kept of each part of an answer that would be too large. */
export interface CutBounds {
  /** Characters of a text, and of the name of a member. */
  readonly characters: number;
  /** Members of an object, and levels of nested objects and lists. */
  readonly members: number;
  readonly levels: number;
}

/** A later cut is tried while fewer items of each list than this fit, and used if at least twice as many fit. */
export const ASSISTANT_ITEMS_WANTED = 10;
export const ASSISTANT_CUTS: readonly CutBounds[] = [
  { characters: 1_000, members: Infinity, levels: 30 },
  { characters: 100, members: 50, levels: 30 },
  // This keeps some 10 KB of the largest possible event.
  { characters: 50, members: 10, levels: 5 },
];
/** Bytes reserved for the sentence that says what was cut. */
export const ASSISTANT_SENTENCE_BYTES = 2 * 1024;
/** The most places that the sentence names. */
export const ASSISTANT_PLACES_MAX = 10;
/** A longer address of the dashboard is shortened to that of its view. */
export const ASSISTANT_LINK_LENGTH_MAX = 2_000;
