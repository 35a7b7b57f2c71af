/// <reference lib="dom" />
import type { Record } from "./record.ts";
import { currentPage, cut, layout, scroller } from "./page.ts";
import { selectorOf } from "./selector.ts";

/** Bundled as plain numbers, which is shorter. */
const enum Limit {
  /** Rage: this many clicks within this time and distance. Dead: nothing changed for this time. */
  RAGE_CLICKS = 3,
  RAGE_PX = 30,
  WINDOW_MS = 1_000,
  /** A burst's last click must still find its first one. */
  HOLD_MS = WINDOW_MS + 100,
  /** The type of comments, below those of documents and shadow trees: nothing else is above it on a click's path. */
  COMMENT_NODE = 8,
}

/** `Element.closest` of what was clicked, across shadow trees. */
export type Closest = <E extends Element>(selector: string) => E | undefined;

/** The properties of a click's event. `rage` and `dead` may still change until it is recorded. */
function propertiesOf(event: MouseEvent, path: readonly Element[], closest: Closest) {
  let { clientX: x, clientY: y } = event;
  if (!event.detail) {
    // By keyboard: the middle of what was activated.
    const box = path[0]!.getBoundingClientRect();
    x = box.x + box.width / 2;
    y = box.y + box.height / 2;
  }
  const fixed = path.some((node) => node.localName && getComputedStyle(node).position === "fixed");
  // If one of these hides or clips its overflow at the side, nobody can scroll there.
  const documentWidth = [document.body, document.documentElement]
      .some((node) => /^[ch]/.test(getComputedStyle(node).overflowX))
    ? scroller().clientWidth
    : scroller().scrollWidth;
  if (!fixed) {
    x += scrollX;
    y += scrollY;
  }
  return {
    x: +Math.max(0, Math.min(x / documentWidth, 1)).toFixed(4),
    y: Math.max(0, Math.round(y)),
    fixed,
    selector: selectorOf(path[0]!),
    rage: false,
    // Except controls that work without a trace in the document, and links that lead away.
    dead: !closest(
      ':any-link:not([href^="#"],[href^=javascript]),[contenteditable],' +
        "input,textarea,select,option,video,audio",
    ),
    documentWidth,
    ...layout(),
  };
}

export interface Clicks {
  /** @param path from what was hit to the window, through shadow trees */
  clicked(event: MouseEvent, path: readonly Element[], closest: Closest): void;
  /** Records the clicks still held, as the page is left. */
  settle(): void;
}

/** Holds each click until it is known whether anything came of it, then records it. */
export function watchClicks(record: Record): Clicks {
  const held = new Set<ReturnType<typeof hold>>();
  /** The control of the label that was clicked last: the browser clicks it next. */
  let labelled: Element | null | undefined | false;

  const changed = () => held.forEach((click) => click.properties.dead = false);
  const observer = new MutationObserver(changed);

  function hold(event: MouseEvent, path: readonly Element[], closest: Closest) {
    const details = currentPage();
    const click = {
      event,
      properties: propertiesOf(event, path, closest),
      settle() {
        if (!held.delete(click)) return;
        if (!held.size) observer.disconnect();
        click.properties.dead &&= details.url === cut(location.href);
        record("click", click.properties, details);
      },
    };
    return click;
  }

  for (const name of ["scroll", "focusin", "input", "popstate"]) {
    addEventListener(name, changed, true);
  }
  document.addEventListener("selectionchange", () => {
    if (!getSelection()?.isCollapsed) changed();
  });
  return {
    clicked(event, path, closest) {
      // A click on a label clicks its control once more, and one on a control within it does not.
      const target = path[0]!;
      const repeats = target === labelled;
      const control = closest<HTMLLabelElement>("label")?.control;
      labelled = !control?.contains(target) && control;
      if (repeats) return;
      const click = hold(event, path, closest);
      held.add(click);
      setTimeout(click.settle, Limit.HOLD_MS);
      const burst = [...held].filter(({ event: other }) =>
        event.timeStamp - other.timeStamp <= Limit.WINDOW_MS &&
        Math.hypot(event.clientX - other.clientX, event.clientY - other.clientY) <= Limit.RAGE_PX
      );
      if (burst[Limit.RAGE_CLICKS - 1]) burst.forEach((one) => one.properties.rage = true);
      for (const root of path) {
        // The document, and each shadow tree that the click came through.
        if (root.nodeType > Limit.COMMENT_NODE) {
          observer.observe(root, {
            subtree: true,
            attributes: true,
            childList: true,
            characterData: true,
          });
        }
      }
    },
    settle() {
      changed();
      held.forEach((click) => click.settle());
    },
  };
}
