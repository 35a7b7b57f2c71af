/** A bounce is a session with at most one page view and no custom event. */
export function isBounce({ views, customs }: { views: number; customs: number }): boolean {
  return views <= 1 && customs === 0;
}

/** The same in SQL, of a row of `sessions`. */
export const BOUNCE = "views <= 1 AND customs = 0";
