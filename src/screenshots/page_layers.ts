/// <reference lib="dom" />
import type { PageSession } from "./page_session.ts";

/** An element that covers a part of the page: a banner, a dialog, its backdrop, a sticky bar. */
export interface PageLayer {
  readonly text: string;
  /** The names of its buttons and links, in order. */
  readonly buttons: readonly string[];
  /** The addresses and names of its frames, whose text cannot be read. */
  readonly frames: readonly string[];
  /** The share of the window that it covers. */
  readonly coveredShare: number;
}

const LAYER_TEXT_LENGTH_MAX = 2_000;
const LAYERS_MAX = 50;

declare global {
  /** The layers that `layersOf` returned last, in the same order. */
  var footfallLayers: { element: HTMLElement; buttons: HTMLElement[] }[] | undefined;
}

/** Returns the current layers of the page. Throws as PageSession.run. */
export async function layersOf(session: PageSession, msMax?: number): Promise<PageLayer[]> {
  const using = [isShown, childrenOf, isShell, findLayers, coveredPoints];
  const options = msMax === undefined ? { using } : { using, msMax };
  return await session.run(readLayers, [LAYER_TEXT_LENGTH_MAX, LAYERS_MAX], options);
}

/** Presses a button of a layer that `layersOf` returned last; false: it is gone. */
export async function pressButton(session: PageSession, layer: number, button: number) {
  return await session.run(press, [layer, button]);
}

/** Hides layers that `layersOf` returned last, and lets the page below be scrolled again. */
export async function hideLayers(session: PageSession, layers: readonly number[]): Promise<void> {
  await session.run(hide, [[...layers]]);
}

// The functions below run in the page.

function readLayers(textLengthMax: number, layersMax: number): PageLayer[] {
  const pressable = "button,a,[role=button],input[type=button],input[type=submit]";
  const found = findLayers(document.documentElement).slice(0, layersMax);
  const deep = (root: ParentNode, selector: string): HTMLElement[] => [
    ...root.querySelectorAll<HTMLElement>(selector),
    ...[...root.querySelectorAll("*")].flatMap((element) =>
      element.shadowRoot === null ? [] : deep(element.shadowRoot, selector)
    ),
  ];
  const inside = (element: HTMLElement, selector: string) => [
    ...deep(element, selector),
    ...(element.shadowRoot === null ? [] : deep(element.shadowRoot, selector)),
  ];
  const textOf = (element: HTMLElement): string => {
    const shadows = [element, ...inside(element, "*")].flatMap(({ shadowRoot }) =>
      shadowRoot === null
        ? []
        : [...shadowRoot.children].filter((child) => !/^(?:STYLE|SCRIPT)$/.test(child.tagName))
    );
    return [element, ...shadows].map((part) => (part as HTMLElement).innerText ?? "").join(" ")
      .replace(/\s+/g, " ").trim();
  };
  const nameOf = (element: HTMLElement): string =>
    (element.innerText || (element as HTMLInputElement).value || element.ariaLabel || "")
      .replace(/\s+/g, " ").trim();
  const shares = coveredPoints(found);
  globalThis.footfallLayers = found.map((element) => ({
    element,
    buttons: inside(element, pressable).filter(isShown),
  }));
  return globalThis.footfallLayers.map(({ element, buttons }, i) => ({
    text: textOf(element).slice(0, textLengthMax),
    buttons: buttons.map((button) => nameOf(button).slice(0, 200)),
    frames: inside(element, "iframe").concat(element.matches("iframe") ? [element] : [])
      .filter(isShown)
      .map((frame) => [(frame as HTMLIFrameElement).src, frame.title, frame.id].join(" ")),
    coveredShare: shares[i]!,
  }));
}

function press(layer: number, button: number): boolean {
  const element = globalThis.footfallLayers?.[layer]?.buttons[button];
  element?.click();
  return element !== undefined;
}

function hide(layers: number[]): void {
  for (const layer of layers) {
    globalThis.footfallLayers?.[layer]?.element.style.setProperty("display", "none", "important");
  }
  for (const element of [document.documentElement, document.body]) {
    if (getComputedStyle(element).overflowY !== "hidden") continue;
    element.style.setProperty("overflow-y", "visible", "important");
  }
}

/** Whether people can see an element: it has a size, and nothing makes it invisible. */
export function isShown(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width > 1 && height > 1 &&
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

export function childrenOf(element: Element): Element[] {
  return [...(element.shadowRoot?.children ?? []), ...element.children];
}

/** Whether a fixed element contains the whole page, and so is not a layer over it. */
function isShell(element: HTMLElement): boolean {
  const { width, height } = element.getBoundingClientRect();
  const isLarge = width * height >= 0.9 * innerWidth * innerHeight;
  const length = element.innerText?.length ?? 0;
  const isMost = length >= 0.8 * (document.body?.innerText.length ?? 0);
  return isLarge && isMost && length > 0 &&
    (length > 1500 || element.querySelector("main,article,nav,footer") !== null);
}

function findLayers(root: Element): HTMLElement[] {
  const found: HTMLElement[] = [];
  const rest = [root];
  for (let seen = 0; rest.length > 0 && seen < 20_000; seen++) {
    const element = rest.pop()!;
    const style = getComputedStyle(element);
    if (style.display === "none") continue;
    const { position, zIndex, pointerEvents } = style;
    const isOver = position === "fixed" || position === "sticky" ||
      position === "absolute" && Number(zIndex) >= 10 ||
      element.matches("dialog[open],[aria-modal=true]");
    const { top, bottom } = element.getBoundingClientRect();
    const isInWindow = bottom > 0 && top < innerHeight;
    if (
      isOver && isInWindow && element instanceof HTMLElement &&
      (pointerEvents !== "none" || element.innerText.trim() !== "") && isShown(element) &&
      !isShell(element)
    ) found.push(element);
    else rest.push(...childrenOf(element).reverse());
  }
  return found;
}

/** Returns, for each element, the share of the window in which it or its content is on top. */
function coveredPoints(elements: readonly HTMLElement[]): number[] {
  const steps = 20;
  const layerAt = (x: number, y: number): number => {
    let hit = document.elementFromPoint(x, y);
    while (hit !== null) {
      const at = elements.indexOf(hit as HTMLElement);
      if (at !== -1) return at;
      hit = hit.parentElement ?? (hit.getRootNode() as ShadowRoot).host ?? null;
    }
    return -1;
  };
  const counts = elements.map(() => 0);
  for (let i = 0; i < steps * steps; i++) {
    const x = (i % steps + 0.5) / steps * innerWidth;
    const at = layerAt(x, (Math.floor(i / steps) + 0.5) / steps * innerHeight);
    if (at !== -1) counts[at]!++;
  }
  // A narrow bar may be between the points.
  elements.forEach((element, i) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    if (counts[i] === 0 && layerAt(left + width / 2, top + height / 2) === i) counts[i] = 1;
  });
  return counts.map((count) => count / (steps * steps));
}
