/// <reference lib="dom" />
import type { EventDetails } from "./sdk.d.ts";

const LOCATION_LENGTH_MAX = 2048;

/**
 * An address or a title, cut to the length that the server takes. A form or an image named `title` or
 * `referrer` shadows the document's property; it has no `slice`.
 */
export const cut = (text: string) => text.slice?.(0, LOCATION_LENGTH_MAX);

/** After a history navigation: the address before it. */
let previousUrl: string | undefined;

/** The members that each event of a page has, as of now: some events are recorded later. */
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

/** Calls `work` at once, or when a prerendered page is shown, which happens at most once. */
export function whenShown(work: () => void): void {
  // A form of that name would count as true.
  if ((document as { prerendering?: boolean }).prerendering === true) {
    document.addEventListener("prerenderingchange", work);
  } else work();
}

/** The element that scrolls. In quirks mode the browser names none if the body has its own `overflow`. */
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
 * Calls `changed` after each navigation within the document; its errors never reach the page.
 * `isBack`: by back or forward, where the browser may have scrolled already.
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
  // Routers that use the Navigation API call none of these. A change counts once, whatever reports it.
  globalThis.navigation?.addEventListener(
    "currententrychange",
    (event) => look(event.navigationType!),
  );
}
