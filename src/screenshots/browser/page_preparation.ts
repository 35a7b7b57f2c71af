/// <reference lib="dom" />
import {
  CAPTURE_HEIGHT_PX_MAX,
  CAPTURE_IMAGES_MS_MAX,
  CAPTURE_SCROLL_MS_MAX,
} from "../capture_limits.ts";
import type { Deadline } from "../deadline.ts";
import { childrenOf } from "../page_layers.ts";
import type { PageSession } from "../page_session.ts";

/** More than the scripts in the page need for themselves, before they are given up. */
const MARGIN_MS = 3_000;
/** A page that is not drawn within this time after a step is scrolled on nevertheless. */
const FRAME_MS_MAX = 200;

/**
 * Makes a settled page ready for a picture of all of it: an inner part that scrolls is laid out
 * wholly, everything is scrolled past once so that lazy content comes, motion has ended, and what
 * stays in place while visitors scroll stands where it is at the top. Throws as PageSession.run.
 */
export async function preparePage(session: PageSession, deadline: Deadline): Promise<void> {
  const run = { using: [childrenOf] };
  const call = (ms: number) => ({ ...run, msMax: deadline.leftMs(ms + MARGIN_MS) });
  await session.run(loadEagerly, [], call(0));
  await session.run(expandScroller, [CAPTURE_HEIGHT_PX_MAX], call(0));
  const scrollMs = deadline.leftMs(CAPTURE_SCROLL_MS_MAX);
  await session.run(scrollThrough, [CAPTURE_HEIGHT_PX_MAX, FRAME_MS_MAX, scrollMs], call(scrollMs));
  const imagesMs = deadline.leftMs(CAPTURE_IMAGES_MS_MAX);
  await session.run(awaitPictures, [imagesMs], call(imagesMs));
  await session.run(holdStill, [], call(0));
}

// What follows runs in the page.

/** Pictures and frames that wait to be scrolled to are asked for at once. */
function loadEagerly(): void {
  const style = document.createElement("style");
  // Smooth scrolling would never arrive, and a caret blinks.
  style.textContent = "*,*::before,*::after{scroll-behavior:auto!important;" +
    "caret-color:transparent!important;transition-duration:0s!important;" +
    "transition-delay:0s!important}";
  document.documentElement.append(style);
  for (const element of document.querySelectorAll("img[loading=lazy],iframe[loading=lazy]")) {
    element.setAttribute("loading", "eager");
  }
}

/**
 * Where the window does not scroll and one part of the page does, as in applications that fill the
 * window, that part and what holds it become as tall as their content.
 */
function expandScroller(heightMax: number): void {
  const root = document.documentElement;
  if (root.scrollHeight > innerHeight * 1.1) return;
  const scrolls = (element: Element) =>
    /auto|scroll|overlay/.test(getComputedStyle(element).overflowY) &&
    element.scrollHeight > element.clientHeight + 50;
  const all = [...document.querySelectorAll("body, body *")].slice(0, 20_000);
  const found =
    all.filter((element) =>
      element.clientHeight >= innerHeight * 0.5 && element.clientWidth >= innerWidth * 0.5 &&
      scrolls(element)
    ).toSorted((one, other) =>
      other.clientHeight * other.clientWidth - one.clientHeight * one.clientWidth
    )[0];
  if (found === undefined) return;
  const set = (element: Element, values: Record<string, string>) => {
    for (const [name, value] of Object.entries(values)) {
      (element as HTMLElement).style.setProperty(name, value, "important");
    }
  };
  const heightPx = Math.min(found.scrollHeight, heightMax);
  for (let part: Element | null = found; part !== null; part = part.parentElement) {
    const { position, display } = getComputedStyle(part);
    set(part, { "height": "auto", "max-height": "none", "overflow": "visible" });
    if (position === "fixed" || position === "absolute") {
      set(part, { "position": "relative", "inset": "auto", "width": "100%" });
    }
    if (/grid/.test(display)) set(part, { "grid-template-rows": "none", "grid-auto-rows": "auto" });
    if (/flex/.test(getComputedStyle(part.parentElement ?? part).display)) {
      set(part, { "flex-basis": "auto", "flex-shrink": "0" });
    }
  }
  // Whatever else keeps it small yields to its own height.
  if (found.getBoundingClientRect().height < heightPx - 1) {
    set(found, { "height": `${heightPx}px` });
  }
}

/** Down to the end in steps, then back to the top. */
async function scrollThrough(heightMax: number, frameMsMax: number, msMax: number): Promise<void> {
  const root = document.scrollingElement ?? document.documentElement;
  const endMs = performance.now() + msMax;
  const stepPx = Math.floor(innerHeight * 0.9);
  // A page that grows while it is scrolled is followed for as long again, not for ever.
  const bottom = () => Math.min(root.scrollHeight, heightMax, 2 * startHeightPx + 5 * innerHeight);
  const startHeightPx = root.scrollHeight;
  // What is in sight is told to scripts after a frame was drawn: the second one comes after that.
  const drawn = () =>
    new Promise((resolve) => {
      setTimeout(resolve, frameMsMax);
      requestAnimationFrame(() => requestAnimationFrame(resolve));
    });
  for (let y = stepPx; y < bottom() && performance.now() < endMs; y += stepPx) {
    scrollTo(0, y);
    await drawn();
  }
  scrollTo(0, root.scrollHeight);
  await drawn();
  scrollTo(0, 0);
}

/** Until every picture has come or failed, and every font. */
async function awaitPictures(msMax: number): Promise<void> {
  const images = [...document.querySelectorAll("img")].filter((image) => !image.complete);
  const coming = images.map((image) =>
    new Promise((resolve) => {
      image.addEventListener("load", resolve, { once: true });
      image.addEventListener("error", resolve, { once: true });
    })
  );
  const all = Promise.all([document.fonts.ready, ...coming]);
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, msMax))]);
}

/** Ends what moves; bars that stay in the window are drawn where they stand at the top of the page. */
function holdStill(): void {
  scrollTo(0, 0);
  for (const animation of document.getAnimations()) {
    try {
      const endTime = animation.effect?.getComputedTiming().endTime;
      if (endTime === Infinity) animation.pause();
      else animation.finish();
    } catch {
      // One that has nothing to end.
    }
  }
  for (const video of document.querySelectorAll("video,audio")) (video as HTMLMediaElement).pause();
  const rest: Element[] = [document.documentElement];
  for (let seen = 0; rest.length > 0 && seen < 20_000; seen++) {
    const element = rest.pop()!;
    rest.push(...childrenOf(element));
    if (!(element instanceof HTMLElement)) continue;
    const style = getComputedStyle(element);
    if (style.backgroundAttachment.includes("fixed")) {
      element.style.setProperty("background-attachment", "scroll", "important");
    }
  }
}
