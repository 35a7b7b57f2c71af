/// <reference lib="dom" />
import { type Closest, watchClicks } from "./clicks.ts";
import { recordLink } from "./links.ts";
import { watchHistory, whenShown } from "./page.ts";
import { createScroll } from "./scroll.ts";
import type { Autocapture } from "./sdk.d.ts";
import type { Record } from "./record.ts";

/** Autocapture of a page, driven by the page's life. */
export interface Capture {
  /**
   * A page view begins.
   * @param isWithin by navigation within the document
   * @param isCounted its `page_view` was recorded already
   */
  begin(isWithin?: boolean, isCounted?: boolean): void;
  /**
   * The page view ends.
   * @param isDraft it may go on: the page was hidden
   * @param isLate the window may already show the next page
   */
  end(isDraft?: boolean, isLate?: boolean): void;
}

/** Starts autocapture. It reads positions, selectors and addresses, never text or values. */
export function startCapture(parts: Autocapture, record: Record): Capture {
  const scroll = parts.scroll !== false && createScroll(record);
  const clicks = parts.clicks !== false && watchClicks(record);
  function clicked(event: MouseEvent) {
    try {
      const path = event.composedPath() as Element[];
      const closest: Closest = <E extends Element>(selector: string) =>
        path.find((node): node is E => node.matches?.(selector));
      // Only people click; the right button neither opens a link nor presses anything.
      if (!event.isTrusted || event.button > 1) return;
      // The page asks for it, or what is clicked is a password.
      if (closest("[data-footfall-ignore],input[type=password]")) return;
      if (clicks && !event.button) clicks.clicked(event, path, closest);
      if (parts.links !== false) recordLink(record, closest(":any-link"));
    } catch {
      // The page's own handlers still run. A form with a field named `matches` comes here, for one.
    }
  }
  for (const type of ["click", "auxclick"] as const) addEventListener(type, clicked, true);

  const capture: Capture = {
    begin(isWithin, isCounted) {
      // If the page counts its views itself, scroll depth begins with the first of these.
      if (!isCounted) {
        if (parts.pageViews === false) return;
        record("page_view");
      }
      if (scroll) scroll.begin(isWithin);
    },
    end(isDraft, isLate) {
      if (clicks) clicks.settle();
      if (scroll) scroll.end(isDraft, isLate);
    },
  };
  whenShown(() => {
    capture.begin();
    watchHistory((isBack) => {
      capture.end(false, isBack);
      capture.begin(true);
    });
  });
  return capture;
}
