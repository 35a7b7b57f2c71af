/** The most of the journal that is looked at for a page of events, at once: a page may do so a few times. */
export interface JournalListLimits {
  /** Decoded rows, and their events. */
  readonly blocksMax: number;
  readonly eventsMax: number;
  /** Rows that are counted to tell whether events that a scan found are read from the journal. */
  readonly countedMax: number;
}

/**
 * An ordinary page decodes a few blocks, with about as many events as it shows. While a long history is
 * imported, every block may hold events of the same days: a page then comes from segments, as older pages do.
 */
export const JOURNAL_LIST_LIMITS: JournalListLimits = {
  blocksMax: 400,
  eventsMax: 20_000,
  countedMax: 2_000,
};
