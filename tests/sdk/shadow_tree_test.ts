/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Event } from "./gate.ts";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();

/** A bar that stays in the window, whose content is a shadow tree in another. */
const BODY = `<div id="bar" style="position: fixed; top: 100px; left: 0"></div>
  <script>
    const outer = bar.attachShadow({ mode: "open" });
    outer.innerHTML = "<a href='http://elsewhere.test/page?token=1'><span id='inner'></span></a>" +
      "<p id='dead'>nothing happens</p>";
    const inner = outer.getElementById("inner").attachShadow({ mode: "open" });
    inner.innerHTML = "<b id='out'>out</b>";
    const second = document.body.appendChild(document.createElement("section"));
    const live = second.attachShadow({ mode: "open" });
    live.innerHTML = "<button id='live'>live</button>";
    live.querySelector("button").onclick = ({ target }) => target.textContent = "done";
    addEventListener("click", (event) => event.preventDefault());
  </script>`;

/** Clicks what an expression of the page names. */
async function click(page: Page, expression: string): Promise<void> {
  const box = await page.evaluate(`(() => {
    const { x, y, width, height } = (${expression}).getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  })()`) as [number, number];
  await page.mouse.click(...box);
}

browserTest(
  "click: shadow trees are looked into for what it hit, changed and led to",
  async (visit) => {
    visit.publish({ head: visit.tag(), body: BODY });
    const page = await visit.open();
    await click(page, "live.getElementById('live')");
    // Each takes the focus from the one before: for the last nothing happens.
    await click(page, "inner.getElementById('out')");
    await click(page, "outer.getElementById('dead')");
    const seen = (name: string) =>
      visit.gate.events(200).filter((event: Event) => event.name === name);
    await visit.until(async () => {
      await page.evaluate(() => footfall.flush());
      return seen("click").length >= 3;
    }, "the clicks arrive");
    assert.deepEqual(
      seen("click").map(({ properties: { selector, dead, fixed } }) => [selector, dead, fixed]),
      [["#live", false, false], ["#out", false, true], ["#dead", true, true]],
    );
    assert.deepEqual(seen("outbound_link").map(({ properties }) => properties), [
      { url: "http://elsewhere.test/page" },
    ]);
  },
);
