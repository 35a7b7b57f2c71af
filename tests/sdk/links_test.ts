/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { click, named } from "./pointed.ts";
import { sharedWorld, type Visit } from "./world.ts";

const browserTest = sharedWorld();

async function opened(visit: Visit, body: string): Promise<Page> {
  visit.publish({ head: visit.tag(), body });
  return await visit.open();
}

browserTest(
  "links: outbound ones and downloads are custom events, without their query",
  async (visit) => {
    const page = await opened(
      visit,
      `<a id="out" target="_blank" href="http://elsewhere.test/page?token=1#x">out</a>
     <a id="file" href="/files/price list.pdf?token=1"><b>file</b></a> <a href="/#in">in</a>
     <a id="mail" href="mailto:someone@example.com">mail</a>
     <a id="unread" href="http://[bad">unread</a>
     <svg width="40" height="20"><a href="http://elsewhere.test/drawn"><text y="15">drawn</text></a></svg>
     <map name="places"><area shape="default" href="http://elsewhere.test/area?token=1"></map>
     <img id="image" usemap="#places" width="40" height="20" alt=""
       src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'/>">
     <script>addEventListener("click", (event) => event.preventDefault())</script>`,
    );
    const clicked = ["#out", "#file b", "[href='/#in']", "#mail", "#unread", "svg text", "#image"];
    for (const selector of clicked) await click(page, selector);
    const [outbound, drawn, area] = await named(visit, page, "outbound_link", 3);
    assert.deepEqual(drawn.properties, { url: "http://elsewhere.test/drawn" });
    assert.deepEqual(area?.properties, { url: "http://elsewhere.test/area" });
    const clicks = await named(visit, page, "click", clicked.length);
    const isDead = clicks.map(({ properties }) => properties.dead);
    assert.deepEqual(isDead, clicked.map(() => false), "links lead away");
    const [download] = await named(visit, page, "file_download", 1);
    assert.deepEqual(outbound.properties, { url: "http://elsewhere.test/page" });
    assert.deepEqual(download.properties, {
      url: `${visit.world.siteUrl}/files/price%20list.pdf`,
    });
  },
);

browserTest(
  "links of drawings are as any others, however their address is written",
  async (visit) => {
    const page = await opened(
      visit,
      `<base href="/below/"><svg width="200" height="80">
       <a href="http://elsewhere.test/drawn?token=1#x"><text id="out" y="15">out</text></a>
       <a xlink:href="http://elsewhere.test/old"><text id="old" y="35">old</text></a>
       <a href="price list.pdf?token=1"><text id="file" y="55">file</text></a>
       <a href="http://[bad"><text id="unread" x="60" y="15">unread</text></a>
       <a href="page"><text id="in" x="60" y="35">in</text></a>
     </svg><script>addEventListener("click", (event) => event.preventDefault())</script>`,
    );
    for (const id of ["out", "old", "file", "unread", "in"]) await click(page, `#${id}`);
    const outbound = await named(visit, page, "outbound_link", 2);
    const urls = outbound.map(({ properties }) => properties.url);
    assert.deepEqual(urls, ["http://elsewhere.test/drawn", "http://elsewhere.test/old"]);
    const [download] = await named(visit, page, "file_download", 1);
    const file = `${visit.world.siteUrl}/below/price%20list.pdf`;
    assert.deepEqual(download.properties, { url: file });
    assert.deepEqual(visit.messages, []);
  },
);

browserTest("click: a form whose field is called as what a form has", async (visit) => {
  const page = await opened(
    visit,
    `<form><input type="hidden" name="children"><p>adults</p><p id="children">how many</p></form>`,
  );
  await click(page, "#children");
  const [{ properties }] = await named(visit, page, "click", 1);
  assert.equal(properties.selector, "#children");
  await click(page, "form p");
  const [, second] = await named(visit, page, "click", 2);
  assert.equal(second.properties.selector, "html > body > form > p:nth-of-type(1)");
});
