/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { pause } from "../support/server_process.ts";
import { click, middleOf, named } from "./pointed.ts";
import { shownAfterPrerendering } from "./prerendering.ts";
import { sharedWorld, type Visit } from "./world.ts";

const browserTest = sharedWorld();
const WIDTH = 1_000;
const HEIGHT = 600;
/** A page 3,000 px tall, with things to click. */
const TALL = `<style>
    body { margin: 0; height: 3000px; position: relative; font: 16px/20px sans-serif }
    body > * { position: absolute; width: 100px; height: 40px; margin: 0 }
    #fixed { position: fixed; top: 500px; left: 0 }
  </style>
  <button id="live" style="top: 1000px; left: 400px" onclick="this.textContent = 'done'">live</button>
  <p id="dead" style="top: 0; left: 200px">nothing happens</p>
  <div id="fixed"><b>bar</b></div>
  <input id="name" style="top: 100px; left: 0">
  <input id="secret" type="password" style="top: 150px; left: 0">
  <div data-footfall-ignore style="top: 200px; left: 0"><button id="ignored">x</button></div>
  <ul style="top: 250px; left: 0"><li>a<li class="row"><i>b</i></ul>`;

async function open(visit: Visit, body = TALL, page?: Page): Promise<Page> {
  visit.publish({ head: visit.tag(), body });
  const opened = page ?? await visit.newPage();
  await opened.setViewport({ width: WIDTH, height: HEIGHT });
  return await visit.open("/", opened);
}

/** Run inside the page: what was scrolled is drawn and heard of by then. */
const drawn = () =>
  new Promise<void>((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()))
  );

/** Clicks `pauseMs` after one another by what the page is told, without waiting: a slow machine would be late. */
async function clickApart(
  page: Page,
  places: readonly (readonly [number, number])[],
  pauseMs: number,
) {
  const session = await page.createCDPSession();
  const each = { button: "left", clickCount: 1 } as const;
  const lastMs = Date.now();
  await Promise.all(
    places.flatMap(([x, y], i) => {
      const timestamp = (lastMs - (places.length - 1 - i) * pauseMs) / 1_000;
      return (["mouseMoved", "mousePressed", "mouseReleased"] as const).map((type) =>
        session.send("Input.dispatchMouseEvent", { ...each, type, x, y, timestamp })
      );
    }),
  );
  await session.detach();
}

browserTest("page_view: what it says of the page, and the window", async (visit) => {
  visit.publish({ head: visit.tag() });
  const page = await visit.newPage();
  await page.setViewport({ width: WIDTH, height: HEIGHT });
  await visit.open("/?utm_source=letter#part", page);
  const [event] = await named(visit, page, "page_view", 1);
  assert.equal(event.url, `${visit.world.siteUrl}/?utm_source=letter#part`);
  assert.equal(event.title, "Page /");
  assert.deepEqual(event.context.viewport, { width: WIDTH, height: HEIGHT });
  assert.ok(event.context.locale && event.context.timezone);
  const [stored] = await visit.stored();
  assert.equal(stored.path, "/");
});

browserTest(
  "page_view: history navigation counts new pages, not fragments or filters",
  async (visit) => {
    const page = await open(visit);
    await page.evaluate(async () => {
      history.pushState({}, "", "/two");
      history.replaceState({}, "", "/two?filter=1");
      location.hash = "part";
      history.pushState({}, "", "/two?page=2");
      history.replaceState({}, "", "/three");
      await new Promise((resolve) => {
        addEventListener("popstate", () => setTimeout(resolve, 0), { once: true });
        history.go(-3);
      });
    });
    const views = await named(visit, page, "page_view", 5);
    const paths = views.map(({ url }) => url.slice(visit.world.siteUrl.length));
    assert.deepEqual(paths, ["/", "/two", "/two?page=2", "/three", "/"]);
    assert.equal(views[1].referrer, `${visit.world.siteUrl}/`);
    const scrolls = await named(visit, page, "scroll", 4);
    assert.equal(scrolls[0].url, `${visit.world.siteUrl}/`, "a view's end belongs to its page");
  },
);

browserTest(
  "page_view: no scrolling element, and an SDK that fails, harm no page",
  async (visit) => {
    const style = "<style>html, body { height: 100%; overflow: hidden }</style>";
    visit.publish({ doctype: "", head: visit.tag(), body: `${style}<button id="go">go</button>` });
    const page = await visit.open();
    assert.equal(await page.evaluate(() => document.scrollingElement), null);
    await page.click("#go");
    await page.evaluate(() => {
      history.pushState({}, "", "/two");
      footfall.page();
      // What the SDK looks at as a view ends, and the page may take from it.
      const own = Object.getOwnPropertyDescriptor(globalThis, "innerWidth")!;
      const get = () => {
        throw new Error("taken");
      };
      Object.defineProperty(globalThis, "innerWidth", { configurable: true, get });
      history.pushState({}, "", "/three");
      Object.defineProperty(globalThis, "innerWidth", own);
    });
    assert.equal(await page.evaluate(() => location.pathname), "/three");
    await page.goto("about:blank");
    const seen = (name: string) => visit.gate.events(200).filter((event) => event.name === name);
    await visit.until(() => seen("scroll").length > 1, "the farewell arrives");
    assert.equal(seen("click").length, 1);
    assert.deepEqual(visit.messages, []);
  },
);

browserTest("page_view: coming back through the back/forward cache is a view", async (visit) => {
  const page = await open(visit);
  await page.evaluate(() => {
    addEventListener("pageshow", (event) => {
      if ((event as PageTransitionEvent).persisted) document.title = "restored";
    });
  });
  await named(visit, page, "page_view", 1);
  visit.publish({ path: "/next" });
  await page.goto(`${visit.world.siteUrl}/next`);
  await page.goBack();
  await page.waitForFunction(() => document.title === "restored");
  await page.evaluate(() => footfall.track("back"));
  await named(visit, page, "back", 1);
  const views = await visit.stored();
  assert.equal(views.filter(({ name }) => name === "page_view").length, 2);
  assert.equal(views.filter(({ name }) => name === "scroll").length, 1);
});

browserTest("page_view: a prerendered page is viewed when it is shown", async (visit) => {
  visit.publish({ path: "/next", head: visit.tag() });
  const page = await shownAfterPrerendering(visit);
  await page.waitForFunction(() => globalThis.footfall !== undefined);
  const wasPrerendered = await page.evaluate(() =>
    (performance.getEntriesByType("navigation")[0] as unknown as { activationStart: number })
      .activationStart > 0
  );
  assert.equal(wasPrerendered, true, "the browser did prerender it");
  await named(visit, page, "page_view", 1);
});

browserTest("click: its position in the document, also after scrolling", async (visit) => {
  const page = await open(visit);
  await page.evaluate(() => scrollTo(0, 800));
  await click(page, "#live");
  const [{ properties, url }] = await named(visit, page, "click", 1);
  assert.deepEqual(properties, {
    x: 0.45,
    y: 1_020,
    fixed: false,
    rage: false,
    dead: false,
    selector: "#live",
    viewportWidth: WIDTH,
    viewportHeight: HEIGHT,
    documentWidth: WIDTH,
    documentHeight: 3_000,
  });
  assert.equal(url, `${visit.world.siteUrl}/`);
});

browserTest("click: its x is a share of the width that can be scrolled to", async (visit) => {
  const body = `<div style="position: absolute; left: 900px; width: 560px; height: 10px"></div>
    <div style="overflow-x: hidden"><button id="go" style="margin-left: 442px; width: 100px">go</button></div>`;
  const places = [];
  for (const hidden of ["none", "html", "body"]) {
    for (const how of ["hidden", "clip"]) {
      const page = await open(visit, `<style>${hidden} { overflow-x: ${how} }</style>${body}`);
      await click(page, "#go");
      const [{ properties }] = await named(visit, page, "click", 1);
      places.push([properties.documentWidth, properties.x]);
      await page.close();
      visit.gate.reset();
    }
  }
  const whole = [1_460, 0.3425];
  const seen = [WIDTH, 0.5];
  assert.deepEqual(places, [whole, whole, seen, seen, seen, seen]);
});

browserTest("click: on a fixed target it is measured in the window", async (visit) => {
  const page = await open(visit);
  await page.evaluate(() => scrollTo(0, 800));
  await click(page, "#fixed b");
  const [{ properties }] = await named(visit, page, "click", 1);
  assert.equal(properties.fixed, true);
  assert.ok(properties.y >= 500 && properties.y <= 540, `${properties.y}`);
  assert.equal(properties.selector, "#fixed > b");
});

browserTest("click: by keyboard it is in the middle of its target", async (visit) => {
  const page = await open(visit);
  await page.focus("#live");
  const [x, y] = await middleOf(page, "#live");
  const scrolled = await page.evaluate(() => scrollY);
  await page.keyboard.press("Enter");
  const [{ properties }] = await named(visit, page, "click", 1);
  assert.equal(properties.x, x / WIDTH);
  assert.equal(properties.y, Math.round(y + scrolled));
});

browserTest("click: dead where nothing changes for a second, and only there", async (visit) => {
  const page = await open(visit);
  await click(page, "#dead");
  await click(page, "#name");
  await click(page, "ul .row i");
  const clicks = await named(visit, page, "click", 3);
  const dead = Object.fromEntries(
    clicks.map(({ properties }) => [properties.selector, properties.dead]),
  );
  // The middle click moved the focus, which is a change for the one before it.
  assert.equal(dead["#name"], false);
  assert.equal(dead["html > body > ul > li:nth-of-type(2) > i"], true);
});

browserTest("click: an address that changes without a page view is a change", async (visit) => {
  const changes = ["replaceState({}, '', '?filter=1')", "pushState({}, '', '#step')"];
  const page = await open(
    visit,
    changes.map((change, i) => `<button id="b${i}" onclick="history.${change}">b</button>`).join(
      "",
    ),
  );
  for (const i of changes.keys()) {
    await click(page, `#b${i}`);
    await pause(1_200);
  }
  const clicks = await named(visit, page, "click", changes.length);
  assert.deepEqual(clicks.map(({ properties }) => properties.dead), [false, false]);
});

browserTest("click: three within a second and 30 px are rage, each of them", async (visit) => {
  const page = await open(visit);
  const [x, y] = await middleOf(page, "#dead");
  const places = [0, 10, 20].map((offset) => [x + offset, y] as const);
  await clickApart(page, places, 490);
  const burst = await named(visit, page, "click", 3);
  assert.deepEqual(burst.map(({ properties }) => properties.rage), [true, true, true]);
  await page.mouse.click(x, y);
  await page.mouse.click(x + 200, y);
  await page.mouse.click(x, y + 100);
  await named(visit, page, "click", 6);
  await clickApart(page, places, 510);
  const all = await named(visit, page, "click", 9);
  assert.deepEqual(all.slice(3).map(({ properties }) => properties.rage), Array(6).fill(false));
});

browserTest(
  "click: what asks to be ignored is, and nothing that is typed is read",
  async (visit) => {
    const page = await open(visit);
    await click(page, "#ignored");
    await click(page, "#secret");
    await page.keyboard.type("correct horse");
    await click(page, "#name");
    await page.keyboard.type("Jane Doe");
    const clicks = await named(visit, page, "click", 1);
    assert.equal(clicks[0].properties.selector, "#name");
    await page.goto("about:blank");
    assert.doesNotMatch(JSON.stringify(visit.gate.events()), /horse|Jane/);
  },
);

browserTest("click: a control counts within its label, and a label's click once", async (visit) => {
  const page = await open(
    visit,
    `<label id="agree"><b>I agree</b> <input type="checkbox" id="box"></label>
     <label id="send">Send <button id="go"><i>now</i></button></label>`,
  );
  for (const selector of ["#box", "#box", "#agree b", "#agree b", "#box", "#go i", "#go i"]) {
    await click(page, selector);
  }
  const clicks = await named(visit, page, "click", 7);
  assert.deepEqual(
    clicks.map(({ properties }) => properties.selector.split(" > ")[0]),
    ["#box", "#box", "#agree", "#agree", "#box", "#go", "#go"],
  );
});

browserTest("click: the last one before leaving is kept, and is not dead", async (visit) => {
  visit.publish({ path: "/next" });
  const page = await open(visit, `<a id="away" href="/next">away</a>`);
  await Promise.all([page.waitForNavigation(), page.click("#away")]);
  await visit.until(
    () => visit.gate.events(200).some(({ name }) => name === "scroll"),
    "the farewell arrives",
  );
  const clicks = visit.gate.events(200).filter(({ name }) => name === "click");
  assert.equal(clicks.length, 1);
  assert.equal(clicks[0].properties.dead, false);
});

browserTest("scroll: the deepest pixel, once per page view, as it ends", async (visit) => {
  const page = await open(visit);
  await page.evaluate(() => scrollTo(0, 1_500));
  await page.waitForFunction(() => scrollY === 1_500);
  await page.evaluate(drawn);
  await page.evaluate(() => scrollTo(0, 200));
  await page.waitForFunction(() => scrollY === 200);
  await page.evaluate(() => history.pushState({}, "", "/two"));
  const [first] = await named(visit, page, "scroll", 1);
  assert.deepEqual(first.properties, {
    depthPx: 2_100,
    viewportWidth: WIDTH,
    viewportHeight: HEIGHT,
    documentHeight: 3_000,
  });
  await page.goto("about:blank");
  await visit.until(() => visit.gate.events(200).length >= 4, "the second view ends");
  const second = visit.gate.events(200).filter(({ name }) => name === "scroll")[1];
  assert.equal(second.properties.depthPx, 800);
  assert.equal(second.url, `${visit.world.siteUrl}/two`);
});

browserTest(
  "scroll: a page that is shown in the place of another begins at its top",
  async (visit) => {
    const page = await open(visit);
    await page.evaluate(() => scrollTo(0, 1_500));
    await page.waitForFunction(() => scrollY === 1_500);
    await page.evaluate(drawn);
    // This one keeps its place, and nothing is heard of it.
    await page.evaluate(() => history.pushState({}, "", "/kept"));
    await page.evaluate(drawn);
    await page.evaluate(() => {
      history.pushState({}, "", "/two");
      footfall.page();
      scrollTo(0, 0);
    });
    await page.evaluate(drawn);
    await page.goto("about:blank");
    const seen = () => visit.gate.events(200).filter(({ name }) => name === "scroll");
    await visit.until(() => seen().length >= 4, "the last view ends");
    assert.deepEqual(
      seen().map(({ url, properties }) => [new URL(url).pathname, properties.depthPx]),
      [["/", 2_100], ["/kept", 2_100], ["/two", 600], ["/two", 600]],
    );
  },
);

browserTest("autocapture: off for the module unless asked, and in parts", async (visit) => {
  visit.publish({
    head: visit.module({ autocapture: { clicks: false, scroll: false } }),
    body: TALL,
  });
  const page = await visit.open();
  await click(page, "#dead");
  await page.evaluate(() => footfall.track("done"));
  await pause(1_300);
  await visit.arrived("page_view", "done");
  visit.gate.reset();
  await visit.client({}, page);
  await page.evaluate(() => footfall.track("alone"));
  await visit.arrived("alone");
});

browserTest(
  "autocapture: how far a page was scrolled is told of views that count alone",
  async (visit) => {
    visit.publish({ head: visit.module({ autocapture: { pageViews: false } }), body: TALL });
    const page = await visit.open();
    await page.evaluate(() => {
      footfall.track("before");
      history.pushState({}, "", "/first");
      footfall.page();
      history.pushState({}, "", "/second");
      footfall.track("between");
      history.pushState({}, "", "/third");
      footfall.page();
    });
    const events = await visit.arrived("before", "page_view", "scroll", "between", "page_view");
    const paths = events.filter(({ name }) => name === "scroll" || name === "page_view")
      .map(({ name, url }) => `${name} ${new URL(url).pathname}`);
    assert.deepEqual(paths, ["page_view /first", "scroll /first", "page_view /third"]);
  },
);
