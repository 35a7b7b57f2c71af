/// <reference lib="dom" />
import type { Record } from "./record.ts";
import { eventId } from "./event_id.ts";
import { layout, pageNow } from "./page.ts";
import type { EventDetails } from "./sdk.d.ts";

export interface Scroll {
  begin(): void;
  end(): void;
  /** The page is out of sight. Phones end hidden pages without a word. */
  hide(): void;
}

/** The deepest document pixel that each page view has shown, recorded once as the view ends. */
export function createScroll(record: Record): Scroll {
  let view: { id: string; depth: number; page: EventDetails } | undefined;

  const look = () => {
    if (view) view.depth = Math.max(view.depth, scrollY + innerHeight);
  };
  const put = (isDraft: boolean) => {
    if (!view) return;
    const sizes = layout();
    const depthPx = Math.round(Math.min(view.depth, sizes.documentHeight));
    const details = { ...view.page, timestamp: Date.now() };
    record("scroll", { depthPx, ...sizes }, details, view.id, isDraft);
  };

  addEventListener("scroll", look, { passive: true });
  return {
    begin() {
      view = { id: eventId(), depth: 0, page: pageNow() };
      look();
    },
    end() {
      put(false);
      view = undefined;
    },
    hide: () => put(true),
  };
}
