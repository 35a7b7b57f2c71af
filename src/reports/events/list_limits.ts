/** How much of the journal a page of the newest events may decode. */
export interface JournalListLimits {
  readonly blocksMax: number;
  readonly eventsMax: number;
}

/**
 * An ordinary page decodes as many events as it has, and a few blocks. While a long history is imported
 * every block may hold events of the same days: a page then comes from segments, as older ones do.
 */
export const JOURNAL_LIST_LIMITS: JournalListLimits = { blocksMax: 400, eventsMax: 20_000 };
