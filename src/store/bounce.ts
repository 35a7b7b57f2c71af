/** What of a session says whether it bounced: how many of its events are what. */
export interface SessionCounts {
  readonly views: number;
  /** Events that are neither page view, click nor scroll. */
  readonly customs: number;
  /** Of both, those that undo no bounce: their `$interactive` is false. */
  readonly passiveViews: number;
  readonly passiveCustoms: number;
}

/** A bounce is a session with at most one page view and no custom event, passive ones apart. */
export function isBounce(
  { views, customs, passiveViews, passiveCustoms }: SessionCounts,
): boolean {
  return views - passiveViews <= 1 && customs === passiveCustoms;
}

/** The same in SQL, of a row of `sessions`. */
export const BOUNCE = "views - passive_views <= 1 AND customs = passive_customs";
