/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { type Event, refusal } from "./gate.ts";
import { sharedWorld, type Visit } from "./world.ts";

const test = sharedWorld();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

// deno-lint-ignore no-explicit-any -- functions of pages, as their own scripts make them
type Of = any;
declare global {
  var umami: Of;
  var plausible: Of;
  var called: unknown[];
}

/** The usual tag of Umami's pages, with our host. */
function umamiTag({ world, project }: Visit, attributes = "", key = project.publicKey): string {
  return `<script defer src="${world.siteUrl}/analytics/script.js" data-website-id="${key}" ${attributes}></script>`;
}

/** The usual tag of Plausible's pages, with our host. */
function plausibleTag(
  { world }: Visit,
  domain: string,
  name = "script.js",
  attributes = "",
): string {
  return `<script defer data-domain="${domain}" src="${world.siteUrl}/analytics/js/${name}" ${attributes}></script>`;
}

const QUEUE = "<script>window.plausible = window.plausible || " +
  "function() { (window.plausible.q = window.plausible.q || []).push(arguments) }</script>";

async function setSite({ world, project }: Visit, siteUrl: string): Promise<void> {
  const path = `/analytics/v1/projects/${project.id}`;
  const { status } = await world.server.admin("PATCH", path, { siteUrl });
  assert.equal(status, 200);
}

const flush = (page: Page) => page.evaluate(() => globalThis.footfall.flush());

/** Own and technical events that have arrived, each once, by name; clicks left out. */
async function arrived(visit: Visit, page: Page, ...names: string[]): Promise<Event[]> {
  // A page that goes does not hear that its events are stored: the next one sends them again.
  const seen = () =>
    [...new Map(visit.gate.events(200).map((event) => [event.eventId, event])).values()]
      .filter(({ name }) => name !== "click");
  await visit.until(async () => {
    await flush(page);
    return seen().length >= names.length;
  }, `${names} arrive`).catch((error) => {
    throw new Error(`${error.message}; there are ${JSON.stringify(visit.gate.posts)}`);
  });
  assert.deepEqual(seen().map(({ name }) => name).toSorted(), names.toSorted());
  return names.map((name) => seen().find((event) => event.name === name));
}

test("umami's tag: page views, and track and identify in each of their forms", async (visit) => {
  visit.publish({ head: umamiTag(visit, 'data-tag="spring"') });
  const page = await visit.open();
  await page.evaluate(async () => {
    await umami.track("plain");
    await umami.track("with data", { plan: "pro", n: 2 });
    await umami.track({
      website: "x",
      url: "/virtual?a=1",
      title: "Virtual",
      name: "as an object",
    });
    await umami.track((props: Of) => ({
      ...props,
      name: "by a function",
      data: { w: props.hostname },
    }));
    await umami.track(() => null);
    await umami.identify({ anonymous: true });
    await umami.identify("user-7", { plan: "pro" });
    await umami.track("after");
    await umami.track();
  });
  const events = await arrived(
    ...[visit, page, "page_view", "plain", "with data", "as an object", "by a function"] as const,
    ...["$identify", "$identify", "after", "scroll", "page_view"],
  );
  const [view, plain, data, object, made] = events;
  assert.equal(view.url, `${visit.world.siteUrl}/`);
  assert.deepEqual(plain.properties, { tag: "spring" });
  assert.deepEqual(data.properties, { tag: "spring", plan: "pro", n: 2 });
  assert.equal(object.url, `${visit.world.siteUrl}/virtual?a=1`);
  assert.equal(object.title, "Virtual");
  assert.deepEqual(made.properties, { tag: "spring", w: "localhost" });
  const all = visit.gate.events(200);
  const identified = all.filter(({ name }) => name === "$identify");
  assert.deepEqual(
    identified.map(({ userId, properties }) => ({ userId, properties })),
    [{ userId: null, properties: { tag: "spring", anonymous: true } }, {
      userId: "user-7",
      properties: { tag: "spring", plan: "pro" },
    }],
  );
  assert.equal(all.find(({ name }) => name === "after").userId, "user-7");
  for (const { eventId } of all) assert.match(eventId, UUID);
  assert.equal(new Set(all.map(({ anonymousId }) => anonymousId)).size, 1);
  assert.deepEqual(visit.messages, []);
});

test("umami's tag: elements say what a click on them is", async (visit) => {
  visit.publish({
    head: umamiTag(visit),
    body: '<button data-umami-event="Signup" data-umami-event-plan="pro"><b>Go</b></button>' +
      "<p>Nothing</p>",
  });
  const page = await visit.open();
  await page.click("b");
  await page.click("p");
  const [, signup] = await arrived(visit, page, "page_view", "Signup");
  assert.deepEqual(signup.properties, { plan: "pro" });
});

test("umami's tag: what the page and the visitor switch off stays silent", async (visit) => {
  visit.publish({
    path: "/elsewhere",
    head: umamiTag(visit, 'data-domains="a.example, b.example"'),
  });
  visit.publish({ path: "/here", head: umamiTag(visit, 'data-domains="a.example, localhost"') });
  visit.publish({ path: "/manual", head: umamiTag(visit, 'data-auto-track="false"') });
  const page = await visit.open("/elsewhere");
  await page.evaluate(() => umami.track("nowhere"));
  await flush(page);
  await visit.open("/manual", page);
  await page.evaluate(() => umami.track("by hand"));
  await arrived(visit, page, "by hand");
  await visit.open("/here", page);
  await arrived(visit, page, "by hand", "page_view");
  await page.evaluate(() => localStorage.setItem("umami.disabled", "1"));
  await visit.open("/here", page);
  await page.evaluate(() => umami.track("disabled"));
  await flush(page);
  await arrived(visit, page, "by hand", "page_view", "scroll");
  assert.deepEqual(visit.messages, []);
});

test("umami's tag: addresses go without query and fragment where it says so, the tag with all", async (visit) => {
  const attributes = 'data-exclude-search="true" data-exclude-hash="true" data-tag="b"';
  visit.publish({ path: "/both", head: umamiTag(visit, attributes) });
  visit.publish({
    path: "/none",
    head: umamiTag(visit, 'data-exclude-search="false" data-exclude-hash="false"'),
  });
  const page = await visit.open("/both?q=secret&utm_source=x#part");
  await page.evaluate(async () => {
    history.pushState(null, "", "/next?token=1");
    await umami.track("plain", { n: 1 });
  });
  const [view, , plain] = await arrived(visit, page, "page_view", "page_view", "plain", "scroll");
  assert.equal(view.url, `${visit.world.siteUrl}/both`);
  assert.deepEqual(
    [plain.url, plain.referrer],
    [`${visit.world.siteUrl}/next`, `${visit.world.siteUrl}/both`],
  );
  assert.deepEqual([view.properties, plain.properties], [{ tag: "b" }, { tag: "b", n: 1 }]);
  await visit.open("/none?q=1#part", page);
  await arrived(
    ...[visit, page, "page_view", "page_view", "plain", "page_view", "scroll", "scroll"] as const,
  );
  const views = visit.gate.events(200).filter(({ name }) => name === "page_view");
  assert.equal(views.at(-1).url, `${visit.world.siteUrl}/none?q=1#part`);
  assert.deepEqual(visit.messages, []);
});

test("plausible's tag: a domain is the key, and what the queue holds is sent", async (visit) => {
  await setSite(visit, "https://www.queue.example/");
  visit.publish({
    head: QUEUE + plausibleTag(visit, "queue.example") +
      "<script>window.called = []; plausible('early', { props: { n: 1 }, callback: (r) => called.push(r) })</script>",
  });
  const page = await visit.open();
  await page.waitForFunction(() => called.length === 1);
  assert.deepEqual(await page.evaluate(() => called), [{ status: 202 }]);
  await page.evaluate(() => {
    plausible("Purchase", { revenue: { amount: "12.29", currency: "EUR" }, props: { sku: "A" } });
    plausible("autoplay", { interactive: false });
    plausible("pageview", { u: "https://queue.example/virtual", props: { author: "me" } });
    plausible("plain");
  });
  const [, early, purchase, autoplay, , plain] = await arrived(
    ...[visit, page, "page_view", "early", "Purchase", "autoplay", "page_view", "plain"] as const,
    "scroll",
  );
  assert.deepEqual(early.properties, { n: 1 });
  assert.deepEqual(purchase.properties, { sku: "A", revenue: 12.29, currency: "EUR" });
  assert.deepEqual(autoplay.properties, { $interactive: false });
  assert.deepEqual(plain.properties, {});
  const virtual = visit.gate.events(200).find(({ url }) => url.endsWith("/virtual"));
  assert.deepEqual([virtual.name, virtual.properties], ["page_view", { author: "me" }]);
  assert.ok(visit.gate.posts.every(({ key }) => key === "site:queue.example"));
  const stored = await visit.stored();
  assert.equal(stored.filter(({ name }) => name === "page_view").length, 2);
});

test("plausible's tag: class names say what clicks and forms are, and a name ends page views", async (visit) => {
  await setSite(visit, "https://classes.example");
  visit.publish({
    head: plausibleTag(visit, "www.classes.example", "script.manual.tagged-events.js"),
    body:
      '<a href="#x" class="big plausible-event-name=Sign+up plausible-event-plan--pro"><i>Go</i></a>' +
      '<form class="plausible-event-name--Order plausible-revenue-amount=10.5 plausible-revenue-currency=USD"' +
      ' onsubmit="event.preventDefault()"><input name="q"><button id="send">Send</button></form>',
  });
  const page = await visit.open();
  await page.click("i");
  await page.click("input");
  await page.click("#send");
  const [sign, order] = await arrived(visit, page, "Sign up", "Order");
  assert.deepEqual(sign.properties, { plan: "pro" });
  assert.deepEqual(order.properties, { revenue: 10.5, currency: "USD" });
  await page.evaluate(() => plausible("pageview"));
  await arrived(visit, page, "Sign up", "Order", "page_view");
  assert.deepEqual(visit.messages, []);
});

test("plausible's tag: a key as the domain, and an unknown domain that stops without a word", async (visit) => {
  visit.publish({ path: "/key", head: plausibleTag(visit, visit.project.publicKey) });
  visit.publish({ path: "/unknown", head: plausibleTag(visit, "unknown.example") });
  const page = await visit.open("/key");
  await arrived(visit, page, "page_view");
  await visit.open("/unknown", page);
  await visit.until(async () => {
    await flush(page);
    return visit.gate.posts.some(({ status }) => status === 401);
  }, "the unknown domain is refused");
  assert.equal(
    visit.gate.posts.find(({ status }) => status === 401)!.reply.code,
    "invalid_api_key",
  );
});

test("plausible's tag: several domains are several projects", async (visit) => {
  await setSite(visit, "https://one.example");
  const { id } = await visit.world.server.project({ siteUrl: "https://two.example" });
  visit.publish({ head: plausibleTag(visit, "one.example, two.example") });
  const page = await visit.open();
  await page.evaluate(() => plausible("both"));
  await page.goto("about:blank");
  const both = () => visit.gate.posts.filter(({ status }) => status === 200);
  await visit.until(() => new Set(both().map(({ key }) => key)).size === 2, "both are told");
  const { body } = await visit.world.server.read(id, { bots: "include" });
  assert.deepEqual(
    body.events.map(({ name }: Event) => name).toSorted(),
    ["both", "page_view", "scroll"],
  );
});

test("their tags: ids are made in the browser, so that a server that fails stores each event once", async (visit) => {
  visit.publish({ head: umamiTag(visit) });
  let failures = 0;
  visit.gate.fault = async (post) => {
    if (failures++ >= 2) return null;
    // The first is stored, and its answer is lost.
    if (failures === 1) {
      await visit.world.server.post(visit.project, [...post.events], { key: post.key });
    }
    return refusal(503, { "Retry-After": "1" })();
  };
  const page = await visit.open();
  await page.evaluate(async () => {
    for (let i = 0; i < 30; i++) await umami.track("many", { i });
  });
  await visit.until(async () => {
    await flush(page);
    return new Set(visit.gate.events(200).map(({ eventId }) => eventId)).size >= 31;
  }, "all of them arrive");
  const stored = (await visit.stored()).filter(({ name }) => name === "many");
  assert.deepEqual(
    stored.map(({ properties }) => properties.i).toSorted((a, b) => a - b),
    Array.from({ length: 30 }, (_, i) => i),
  );
});

/** The snippet that Plausible gives now: the site's id in the script's name, options for `init`. */
const SNIPPET = (source: string, options: string) =>
  `<script async src="${source}"></script><script>window.plausible=window.plausible||function(){` +
  "(plausible.q=plausible.q||[]).push(arguments)},plausible.init=plausible.init||function(i){" +
  `plausible.o=i||{}};plausible.init(${options})</script>`;

test("plausible's newer snippet: the script's own name is the key, and init is heard", async (visit) => {
  const value = `pa-${crypto.randomUUID().slice(0, 8)}_Xy`;
  await visit.world.server.admin("POST", `/analytics/v1/projects/${visit.project.id}/keys`, {
    ...{ kind: "public", value },
  });
  const source = `${visit.world.siteUrl}/analytics/js/${value}.js`;
  visit.publish({ path: "/auto", head: SNIPPET(source, "") });
  visit.publish({
    path: "/manual",
    head: SNIPPET(source, "{ autoCapturePageviews: false }") +
      "<script>plausible('early', { props: { n: 1 } })</script>",
  });
  const page = await visit.open("/auto");
  await arrived(visit, page, "page_view");
  await page.evaluate(() => plausible.init({}));
  await visit.open("/manual", page);
  const [, early] = await arrived(visit, page, "page_view", "early", "scroll");
  assert.deepEqual(early.properties, { n: 1 });
  assert.ok(visit.gate.posts.every(({ key }) => key === value));
  assert.deepEqual(visit.messages, []);
});
