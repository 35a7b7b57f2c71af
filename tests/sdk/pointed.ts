/// <reference lib="dom" />
/** Clicks in pages, and the events that come of them. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Event } from "./gate.ts";
import type { Visit } from "./world.ts";

/** Waits for `count` events of a name, flushing meanwhile. */
export async function named(
  visit: Visit,
  page: Page,
  name: string,
  count: number,
): Promise<Event[]> {
  const all = () => visit.gate.events(200).filter((event) => event.name === name);
  await visit.until(async () => {
    await page.evaluate(() => footfall.flush());
    return all().length >= count;
  }, `${count} ${name} events`);
  assert.equal(all().length, count);
  return all();
}

/** Where an element is clicked, in pixels of the window. */
export const middleOf = (page: Page, selector: string) =>
  page.$eval(selector, (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x + width / 2, y + height / 2] as const;
  });

export async function click(page: Page, selector: string): Promise<void> {
  await page.mouse.click(...await middleOf(page, selector));
}
