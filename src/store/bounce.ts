/** The counts of a session's events that decide whether it bounced. */
export interface SessionCounts {
  readonly views: number;
  /** Events that are neither page view, click nor scroll. */
  readonly customs: number;
  /** The views and customs with `$interactive: false`, which undo no bounce. */
  readonly passiveViews: number;
  readonly passiveCustoms: number;
}

/** A bounce has at most one page view and no custom event, not counting passive events. */
export function isBounce(
  { views, customs, passiveViews, passiveCustoms }: SessionCounts,
): boolean {
  return views - passiveViews <= 1 && customs === passiveCustoms;
}

/** `isBounce` as an SQL condition on a row of `sessions`. */
export const BOUNCE = "views - passive_views <= 1 AND customs = passive_customs";
