/** The most of the journal that one read for a page of events covers; a page may take a few reads. */
export interface JournalListLimits {
  /** Decoded rows, and their events. */
  readonly blocksMax: number;
  readonly eventsMax: number;
  /** Numbers of rows, those of other projects included, between the first that may have found events and the last. */
  readonly passedMax: number;
  /** The rows that are counted where that is exceeded. */
  readonly countedMax: number;
}

/**
 * An ordinary page decodes a few blocks, with about as many events as it shows. While a long history is
 * imported, every block may have events of the same days: a page then comes from segments, as older pages do.
 * So does one of found events with too many rows behind it, which are passed over within the index: 200,000 take 5 to
 * 7 ms, a million 107 to 129.
 */
export const JOURNAL_LIST_LIMITS: JournalListLimits = {
  blocksMax: 400,
  eventsMax: 20_000,
  passedMax: 200_000,
  countedMax: 20_000,
};
