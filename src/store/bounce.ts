/** The counts of a session's events that decide whether it bounced. */
export interface SessionCounts {
  readonly views: number;
  /** Events that are neither page view, click nor scroll. */
  readonly customs: number;
  /** The views and customs with `$interactive: false`, which undo no bounce. */
  readonly passiveViews: number;
  readonly passiveCustoms: number;
}

/** A bounce has at most one page view and no custom event. @param views and the next: those that are not passive */
export function isBounceOf(views: number, customs: number): boolean {
  return views <= 1 && customs === 0;
}

/** `isBounceOf` by the counts of a session's events. */
export function isBounce(
  { views, customs, passiveViews, passiveCustoms }: SessionCounts,
): boolean {
  return isBounceOf(views - passiveViews, customs - passiveCustoms);
}

/** `isBounce` as an SQL condition on a row of `sessions`. */
export const BOUNCE = "views - passive_views <= 1 AND customs = passive_customs";
