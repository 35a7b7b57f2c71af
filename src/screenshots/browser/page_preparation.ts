/// <reference lib="dom" />
import {
  CAPTURE_HEIGHT_PX_MAX,
  CAPTURE_IMAGES_MS_MAX,
  CAPTURE_SCROLL_MS_MAX,
} from "../capture_limits.ts";
import type { Deadline } from "../deadline.ts";
import { childrenOf } from "../page_layers.ts";
import type { PageSession } from "../page_session.ts";

/** How much longer than its own limit a script in the page may take before it is given up. */
const MARGIN_MS = 3_000;
/** Scrolling continues after this time even if the page has not been drawn. */
const FRAME_MS_MAX = 200;

/**
 * Prepares a settled page for a picture of all of it: expands an inner part that scrolls, scrolls through the page
 * once so that lazy content is loaded, returns to the top and ends animations. Throws as PageSession.run.
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

// The functions below run in the page.

/** Loads lazy images and frames, and turns off smooth scrolling, transitions and the caret. */
function loadEagerly(): void {
  const style = document.createElement("style");
  // Smooth scrolling would still be on its way when the next step begins, and a caret blinks.
  style.textContent = "*,*::before,*::after{scroll-behavior:auto!important;" +
    "caret-color:transparent!important;transition-duration:0s!important;" +
    "transition-delay:0s!important}";
  document.documentElement.append(style);
  for (const element of document.querySelectorAll("img[loading=lazy],iframe[loading=lazy]")) {
    element.setAttribute("loading", "eager");
  }
}

/**
 * If a part of the page scrolls instead of the window, as in applications that fill the window, makes that part and
 * its ancestors as tall as their content.
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
  // Its height is set if something else still keeps it small.
  if (found.getBoundingClientRect().height < heightPx - 1) {
    set(found, { "height": `${heightPx}px` });
  }
}

/** Scrolls to the end in steps, then back to the top. */
async function scrollThrough(heightMax: number, frameMsMax: number, msMax: number): Promise<void> {
  const root = document.scrollingElement ?? document.documentElement;
  const endMs = performance.now() + msMax;
  const stepPx = Math.floor(innerHeight * 0.9);
  // A page that grows while it is scrolled is followed to about twice its height, not for ever.
  const bottom = () => Math.min(root.scrollHeight, heightMax, 2 * startHeightPx + 5 * innerHeight);
  const startHeightPx = root.scrollHeight;
  // Intersection observers are called after a frame is drawn, and so before the second one.
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

/** Waits until every image and font has loaded or failed. */
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

/** Ends animations, pauses media, and makes fixed backgrounds scroll with the page. */
function holdStill(): void {
  scrollTo(0, 0);
  for (const animation of document.getAnimations()) {
    try {
      const endTime = animation.effect?.getComputedTiming().endTime;
      if (endTime === Infinity) animation.pause();
      else animation.finish();
    } catch {
      // An animation without an end.
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
