/// <reference lib="dom" />
import type { Record } from "./record.ts";
import { eventId } from "./event_id.ts";
import { currentPage, layout } from "./page.ts";
import type { EventDetails } from "./sdk.d.ts";

export interface Scroll {
  /** `isWithin`: by navigation within the document; until redrawn, the window shows the previous page. */
  begin(isWithin?: boolean): void;
  /**
   * @param isDraft the view may go on: the page is hidden, and phones kill hidden pages without notice
   * @param isLate the window may already show the next page
   */
  end(isDraft?: boolean, isLate?: boolean): void;
}

/** The deepest document pixel that each page view has shown, recorded once as the view ends. */
export function createScroll(record: Record): Scroll {
  let view: { id: string; depth: number; page: EventDetails } | false | undefined;

  const look = () => view && (view.depth = Math.max(view.depth, scrollY + innerHeight));

  addEventListener("scroll", look);
  return {
    begin(isWithin) {
      view = { id: eventId(), depth: innerHeight, page: currentPage() };
      if (!isWithin) look();
    },
    end(isDraft, isLate) {
      if (!view) return;
      if (!isLate) look();
      const sizes = layout();
      record(
        "scroll",
        { depthPx: Math.round(Math.min(view.depth, sizes.documentHeight)), ...sizes },
        { ...view.page, timestamp: Date.now() },
        view.id,
        isDraft,
      );
      view = isDraft && view;
    },
  };
}
