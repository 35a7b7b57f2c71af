import assert from "node:assert/strict";
import type { ElementHandle, JSHandle, Page } from "puppeteer-core";
import type { Visit } from "./page.ts";

/** More than any page has of things that Tab stops at. */
const STOPS_MAX = 120;

/** By the clock: a tab behind another one draws nothing, and so asks nothing where drawing is waited for. */
const POLLING = { polling: 50 } as const;

/**
 * Does `act` with the button of that name, once it is there; of several with the first. White space
 * does not count: what stands in two lines of a button is one text.
 */
async function withButton(page: Page, name: string, within: string, act: string): Promise<void> {
  await page.waitForFunction(
    `(() => {
    const found = [...document.querySelectorAll(${
      JSON.stringify(`${within} button`)
    })].find((each) =>
      (each.getAttribute("aria-label") ?? each.textContent).replace(/\\s/g, "").startsWith(${
      JSON.stringify(name.replace(/\s/g, ""))
    }));
    found?.${act}();
    return found !== undefined;
  })()`,
    POLLING,
  );
}

/** Clicks a button. */
export async function press(page: Page, name: string, within = "body"): Promise<void> {
  await withButton(page, name, within, "click");
}

/** Presses a button without the mouse. */
export async function pressByKey(page: Page, name: string, within = "body"): Promise<void> {
  await withButton(page, name, within, "focus");
  await page.keyboard.press("Enter");
}

/** The control of the label that says just this, as a term of the page. */
function labelled(label: string): string {
  return `[...document.querySelectorAll("label")]
    .find((each) => each.textContent === ${JSON.stringify(label)})?.control`;
}

/** The control of that label, once it is there. */
async function control(page: Page, label: string): Promise<JSHandle> {
  return await page.waitForFunction(labelled(label), POLLING);
}

/** The list of choices of that label, once it is there. */
export async function choice(
  page: Page,
  label: string,
): Promise<ElementHandle<HTMLSelectElement>> {
  return (await control(page, label)).asElement() as ElementHandle<HTMLSelectElement>;
}

/** Puts the focus into the field of that label, with its whole text selected. */
export async function into(page: Page, label: string): Promise<void> {
  await control(page, label);
  await page.evaluate(`(() => {
    const control = ${labelled(label)};
    control.focus();
    control.select?.();
  })()`);
}

/**
 * Puts a text in the place of what a field holds. A view that is still being made may take some of what is
 * typed first: then it is typed once more.
 */
export async function fill(page: Page, label: string, text: string): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    await into(page, label);
    if (text === "") await page.keyboard.press("Backspace");
    else await page.keyboard.type(text);
    const value = String(await page.evaluate("document.activeElement?.value ?? ''"));
    if (value === text || !text.endsWith(value) && !value.endsWith(text)) return;
  }
}

/** What the focus is on, by its name as it is read out. */
export async function focused(page: Page): Promise<string> {
  return String(
    await page.evaluate(`(() => {
    const on = document.activeElement;
    const label = on.getAttribute("aria-label") ?? on.labels?.[0]?.textContent ?? on.textContent;
    return (label ?? "").trim().replace(/\\s+/g, " ");
  })()`),
  );
}

/** Goes on with Tab until the focus is on what has this name, as people without a pointer do. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < STOPS_MAX; i++) {
    const on = await focused(page);
    if (on.startsWith(name)) return;
    passed.push(on);
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab never came to "${name}", but to: ${[...new Set(passed)].join(" | ")}`);
}

/** Tabs to a field and types into it. */
export async function typeInto(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.type(text);
}

/** Tabs to a button or a link and presses Enter. */
export async function enter(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}

/** Waits until the result of a funnel is that of the form. */
export async function funnelRan(visit: Visit, page: Page): Promise<void> {
  await visit.until(page, `document.querySelector('[data-run="ready"]') !== null`, "it has run");
}

/** The person comes back after ten minutes. */
export async function returnLater(page: Page): Promise<void> {
  await page.evaluate(`{
    const { now } = Date;
    for (const [state, passedMs] of [["hidden", 0], ["visible", 600_000]]) {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      Date.now = () => now() + passedMs;
      document.dispatchEvent(new Event("visibilitychange"));
    }
    Date.now = now;
  }`);
}
