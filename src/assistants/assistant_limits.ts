/** What an assistant may ask, and what one answer may weigh: a model reads all of it, each time. */

/** Bytes of an answer as JSON, in UTF-8: some 10,000 tokens, of which models have 100,000 and more. */
export const ASSISTANT_ANSWER_BYTES_MAX = 32 * 1024;
/** Rows of one page: more would be cut anyway. */
export const ASSISTANT_ROWS_MAX = 100;
/** Levels of a parameter that is given as JSON; the reads themselves take fewer. */
export const ASSISTANT_ARGUMENT_LEVELS_MAX = 20;

/** What is left of each part of an answer that would be too large. */
export interface CutBounds {
  /** Characters of a text, and of the name of a member. */
  readonly characters: number;
  /** Members of an object, and levels of objects and lists in each other. */
  readonly members: number;
  readonly levels: number;
}

/** A later one is taken where with those before it fewer items of each list than this fit, and with it twice as many. */
export const ASSISTANT_ITEMS_WANTED = 10;
export const ASSISTANT_CUTS: readonly CutBounds[] = [
  { characters: 1_000, members: Infinity, levels: 30 },
  { characters: 100, members: 50, levels: 30 },
  // Of the largest event that there may be these are some 10 KB.
  { characters: 50, members: 10, levels: 5 },
];
/** Kept for the sentence that says what was cut. */
export const ASSISTANT_SENTENCE_BYTES = 2 * 1024;
/** Places that the sentence names. */
export const ASSISTANT_PLACES_MAX = 10;
/** A longer address of the dashboard is told without its choices. */
export const ASSISTANT_LINK_LENGTH_MAX = 2_000;
