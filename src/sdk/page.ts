/// <reference lib="dom" />
import type { EventDetails } from "./sdk.d.ts";

const LOCATION_LENGTH_MAX = 2048;

/**
 * An address or a title, no longer than the server takes. A form or an image of the name `title`
 * or `referrer` hides what the document says; it has no `slice`.
 */
export const cut = (text: string) => text.slice?.(0, LOCATION_LENGTH_MAX);

/** After a history navigation: the address before it. */
let previousUrl: string | undefined;

/** What every event of a page says of it, at this moment: some are recorded later. */
export function currentPage(): EventDetails & { readonly context: Record<string, unknown> } {
  return {
    url: cut(location.href),
    referrer: cut(previousUrl ?? document.referrer),
    title: cut(document.title),
    timestamp: Date.now(),
    context: {
      locale: navigator.language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      viewport: { width: innerWidth, height: innerHeight },
    },
  };
}

/** A prerendered page is a guess of the browser: it is viewed when it is shown, which comes once. */
export function whenShown(work: () => void): void {
  // A form of that name would count as true.
  if ((document as { prerendering?: boolean }).prerendering === true) {
    document.addEventListener("prerenderingchange", work);
  } else work();
}

/** What scrolls: none is said to in quirks mode where the body scrolls by itself, or cannot. */
export const scroller = () => document.scrollingElement ?? document.documentElement;

/** The window and the whole document, in CSS pixels. */
export function layout() {
  return {
    viewportWidth: innerWidth,
    viewportHeight: innerHeight,
    documentHeight: scroller().scrollHeight,
  };
}

/**
 * Calls `changed` after each navigation within the document. Pages see no error of it.
 * `isBack`: by back or forward, as which browsers may have scrolled already.
 */
export function watchHistory(changed: (isBack: boolean) => void): void {
  let url = location.href;
  /** @param how the method of the history, or what the Navigation API calls it */
  function look(how: string) {
    const before = url;
    url = location.href;
    // Pages keep filters in the query by replaceState, at each keystroke: only a new path counts.
    const ignored = /^r/.test(how) ? /[?#]/ : "#";
    if (before.split(ignored)[0] === url.split(ignored)[0]) return;
    previousUrl = before;
    try {
      changed(how === "traverse");
    } catch {
      // The page's own navigation goes on.
    }
  }
  for (const method of ["pushState", "replaceState"] as const) {
    const original = history[method];
    history[method] = (...args) => {
      original.apply(history, args);
      look(method);
    };
  }
  addEventListener("popstate", () => look("traverse"));
  // Routers of the Navigation API call none of these. Whichever tells of a change first, it counts once.
  globalThis.navigation?.addEventListener(
    "currententrychange",
    (event) => look(event.navigationType!),
  );
}
