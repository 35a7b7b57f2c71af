/** The most that a page of the newest events may decode of the journal. */
export interface JournalListLimits {
  readonly blocksMax: number;
  readonly eventsMax: number;
}

/**
 * An ordinary page decodes a few blocks, with about as many events as it shows. While a long history is
 * imported, every block may hold events of the same days: a page then comes from segments, as older pages do.
 */
export const JOURNAL_LIST_LIMITS: JournalListLimits = { blocksMax: 400, eventsMax: 20_000 };
