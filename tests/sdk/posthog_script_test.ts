/// <reference lib="dom" />
/** Pages with PostHog's snippet, whose host alone was changed. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Event } from "./gate.ts";
import { shownAfterPrerendering } from "./prerendering.ts";
import { sharedWorld, type Visit } from "./world.ts";

const test = sharedWorld();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

// deno-lint-ignore no-explicit-any -- functions of pages, as their own scripts make them
type Of = any;
declare global {
  var posthog: Of;
  var heard: unknown[];
}

/**
 * What PostHog's snippet does, in our words: an array at `window.posthog` that keeps calls of the
 * functions that it names, and a script tag beside the first one.
 */
function leave(page: Of, source: string): void {
  const posthog = page.posthog = [] as Of;
  posthog._i = [];
  posthog.init = (key: string, config: Of, name?: string) => {
    const script = document.createElement("script");
    script.crossOrigin = "anonymous";
    script.async = true;
    script.src = config.api_host + source;
    const [first] = document.getElementsByTagName("script");
    first!.parentNode!.insertBefore(script, first!);
    const target = name === undefined ? posthog : posthog[name] = [];
    target.people = target.people ?? [];
    const names = "init capture register register_once unregister identify alias group reset " +
      "isFeatureEnabled onFeatureFlags getFeatureFlag opt_in_capturing opt_out_capturing " +
      "has_opted_out_capturing get_distinct_id setPersonProperties startSessionRecording " +
      "set_config people.set people.set_once";
    for (const method of names.split(" ")) {
      const parts = method.split(".");
      const [at, own] = parts.length === 2 ? [target[parts[0]!], parts[1]!] : [target, method];
      at[own] = (...given: unknown[]) => void at.push([own, ...given]);
    }
    posthog._i.push([key, config, name ?? "posthog"]);
  };
  posthog.__SV = 1;
}

interface Wanted {
  readonly path?: string;
  /** Settings of `init`, as JavaScript. */
  readonly config?: string;
  /** What the page calls before the script is there. */
  readonly calls?: string;
  readonly body?: string;
  readonly source?: string;
}

function publish(visit: Visit, wanted: Wanted): void {
  const { path = "/", config = "", calls = "", body = "", source = "/static/array.js" } = wanted;
  const settings = `{ api_host: "${visit.world.siteUrl}/analytics", ${config} }`;
  const head = `<script>(${leave})(window, ${JSON.stringify(source)});` +
    `posthog.init("${visit.project.publicKey}", ${settings});${calls}</script>`;
  visit.publish({ path, head, body });
}

async function open(visit: Visit, path = "/", page?: Page): Promise<Page> {
  const opened = page ?? await visit.newPage();
  await opened.goto(visit.world.siteUrl + path);
  await opened.waitForFunction(() => globalThis.posthog?.__loaded);
  return opened;
}

/** All that has arrived once the page is gone, without clicks: with each page view how far it was scrolled. */
function left(visit: Visit, page: Page, ...names: string[]): Promise<Event[]> {
  const views = names.filter((name) => name === "page_view");
  return leftExactly(visit, page, ...names, ...views.map(() => "scroll"));
}

/** All that has arrived once the page is gone, without clicks. */
async function leftExactly(visit: Visit, page: Page, ...names: string[]): Promise<Event[]> {
  await page.goto("about:blank");
  // A page that goes does not hear that its events are stored: the next one sends them again.
  const seen = () =>
    [...new Map(visit.gate.events(200).map((event) => [event.eventId, event])).values()]
      .filter(({ name }) => name !== "click");
  await visit.until(() => seen().length >= names.length, `${names} arrive`).catch((error) => {
    throw new Error(`${error.message}; there are ${JSON.stringify(visit.gate.posts)}`);
  });
  assert.deepEqual(seen().map(({ name }) => name).toSorted(), names.toSorted());
  return seen();
}

const named = (events: readonly Event[], name: string) =>
  events.find((event) => event.name === name);

test("posthog's snippet: what waits is sent, with what the page registered, and the page view behind it", async (visit) => {
  publish(visit, {
    calls: `posthog.register({ plan: "pro" }); posthog.people.set({ team: "red" });
      posthog.capture("early", { n: 1 }); posthog.startSessionRecording();
      window.heard = []; posthog.onFeatureFlags((flags) => heard.push(flags));`,
  });
  const page = await open(visit);
  const id = await page.evaluate(() => {
    posthog.capture("later", { n: 2, $current_url: "https://shop.example/other" });
    posthog.capture("$pageview", { $current_url: "https://shop.example/virtual" });
    const isOn = posthog.isFeatureEnabled("any");
    const id = posthog.get_distinct_id();
    posthog.identify("user-7", { plan: "max" });
    posthog.identify("user-7");
    posthog.capture("after", {}, { $set: { seen: true } });
    posthog.group("company", "acme", { size: 3 });
    posthog.alias("other-name");
    posthog.capture("last");
    return isOn === undefined ? id : "on";
  });
  assert.deepEqual(await page.evaluate(() => heard), [[]]);
  const events = await left(
    ...[visit, page, "early", "$identify", "page_view", "later", "page_view", "$identify"] as const,
    ...["after", "$group", "$alias", "last"],
  );
  const [traits, user] = events.filter(({ name }) => name === "$identify");
  const views = events.filter(({ name }) => name === "page_view");
  assert.deepEqual(named(events, "early").properties, { plan: "pro", n: 1 });
  assert.deepEqual(traits.properties, { plan: "pro", $set: { team: "red" } });
  assert.deepEqual(views.map(({ url }) => url), [
    `${visit.world.siteUrl}/`,
    "https://shop.example/virtual",
  ]);
  const later = named(events, "later");
  assert.deepEqual([later.url, later.properties], [
    "https://shop.example/other",
    { plan: "pro", n: 2 },
  ]);
  assert.deepEqual([user.userId, user.properties.$set], ["user-7", { plan: "max" }]);
  assert.deepEqual(named(events, "after").properties, { plan: "pro", $set: { seen: true } });
  assert.deepEqual(named(events, "$group").properties, {
    plan: "pro",
    $groups: { company: "acme" },
    $group_type: "company",
    $group_key: "acme",
    $group_set: { size: 3 },
  });
  const { userId, anonymousId } = named(events, "$alias");
  assert.deepEqual([userId, anonymousId], ["user-7", "other-name"]);
  const others = events.filter(({ name }) => name !== "$alias");
  assert.deepEqual([...new Set(others.map(({ anonymousId }) => anonymousId))], [id]);
  for (const { eventId } of events) assert.match(eventId, UUID);
  assert.deepEqual(visit.messages, []);
});

/** Has a page begin as PostHog's own program left it, which knew the visitor as a user. */
const keptBy = (visit: Visit) =>
  `localStorage.setItem("ph_${visit.project.publicKey}_posthog", JSON.stringify(${
    JSON.stringify({ distinct_id: "user-7", $device_id: "device-1", $user_state: "identified" })
  }));`;
const distinctId = (page: Page) => page.evaluate(() => posthog.get_distinct_id());
/** The names of what the SDK keeps in the browser. */
const keptNames = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith("footfall|")));

test("posthog's snippet: who the visitor was to PostHog's own program he stays, and reset forgets", async (visit) => {
  publish(visit, {
    source: `/array/${visit.project.publicKey}/array.js`,
    calls: keptBy(visit),
  });
  const page = await open(visit);
  assert.equal(await distinctId(page), "user-7");
  await page.evaluate(() => {
    posthog.register({ plan: "pro" });
    posthog.reset();
    posthog.capture("anew");
  });
  const events = await left(visit, page, "page_view", "anew");
  const view = named(events, "page_view");
  assert.deepEqual([view.userId, view.anonymousId], ["user-7", "device-1"]);
  const { userId, anonymousId, properties } = named(events, "anew");
  assert.deepEqual([userId, properties], [null, {}]);
  assert.match(anonymousId, UUID);
});

test("posthog's snippet: who was forgotten does not come back with the next page", async (visit) => {
  // Nothing but the page's calls makes events, and with them an id.
  const config = "autocapture: false, capture_pageview: false";
  publish(visit, { config, calls: keptBy(visit) });
  const page = await open(visit);
  assert.equal(await distinctId(page), "user-7");
  await page.evaluate(() => posthog.reset());
  await open(visit, "/", page);
  assert.match(await distinctId(page), UUID);
  await page.evaluate(() => posthog.opt_out_capturing());
  await open(visit, "/", page);
  assert.equal(await distinctId(page), undefined);
  await page.evaluate(() => posthog.opt_in_capturing());
  assert.match(await distinctId(page), UUID);
});

test("posthog's snippet: nobody is known before he agrees, nor who asks for privacy", async (visit) => {
  publish(visit, { config: "opt_out_capturing_by_default: true", calls: keptBy(visit) });
  const page = await open(visit);
  const use = () =>
    page.evaluate(() => {
      posthog.identify("user-8");
      posthog.alias("other-name");
      return posthog.get_distinct_id();
    });
  assert.equal(await use(), undefined);
  assert.deepEqual(await keptNames(page), []);
  await page.evaluate(() => posthog.opt_in_capturing());
  assert.equal(await distinctId(page), "user-7", "he stays who he was");
  await page.evaluate(() => localStorage.clear());
  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(navigator, "globalPrivacyControl", { value: true });
  });
  publish(visit, { calls: "localStorage.clear();" + keptBy(visit) });
  await open(visit, "/", page);
  assert.equal(await use(), undefined);
  assert.deepEqual(await keptNames(page), []);
  assert.deepEqual(visit.messages, []);
});

test("posthog's snippet: nothing before the visitor agrees, and nothing any more once he does not", async (visit) => {
  publish(visit, {
    config: "opt_out_capturing_by_default: true, persistence: 'memory'",
    calls: "posthog.capture('too early');",
  });
  const page = await open(visit);
  assert.equal(await page.evaluate(() => posthog.has_opted_out_capturing()), true);
  await page.evaluate(() => {
    posthog.capture("still too early");
    posthog.opt_in_capturing();
    posthog.capture("agreed");
  });
  await left(visit, page, "page_view", "agreed");
  await open(visit, "/", page);
  await page.evaluate(() => posthog.capture("remembered"));
  await left(visit, page, "page_view", "agreed", "page_view", "too early", "remembered");
  await open(visit, "/", page);
  await page.evaluate(() => {
    posthog.opt_out_capturing();
    posthog.capture("too late");
  });
  const names = await page.evaluate(() => Object.keys(localStorage).toSorted());
  assert.deepEqual(names, [`__ph_opt_in_out_${visit.project.publicKey}`]);
  await open(visit, "/", page);
  await page.evaluate(() => posthog.capture("never"));
  await left(visit, page, "page_view", "agreed", "page_view", "too early", "remembered");
  assert.deepEqual(visit.messages, []);
});

test("posthog's snippet: one page view of a page, however often its visitor agrees", async (visit) => {
  publish(visit, { calls: "posthog.opt_in_capturing();" });
  const page = await open(visit);
  await page.evaluate(() => {
    posthog.opt_in_capturing();
    posthog.capture("agreed");
  });
  await left(visit, page, "page_view", "agreed");
  // Who may not be recorded as the page loads has not had his page view.
  const calls = "localStorage.clear();";
  publish(visit, { config: "opt_out_capturing_by_default: true", calls });
  await open(visit, "/", page);
  await page.evaluate(() => {
    posthog.opt_in_capturing();
    posthog.opt_in_capturing();
  });
  await left(visit, page, "page_view", "agreed", "page_view");
  assert.deepEqual(visit.messages, []);
});

test("posthog's snippet: before_send changes events and drops them, and what is not to be captured is not", async (visit) => {
  publish(visit, {
    config: `before_send: (event) => {
        if (event.event === "secret" || event.event === "scroll") return null;
        event.properties.$current_url = event.properties.$current_url.replace(/[?].*/, "");
        if (event.event === "$pageview") event.properties.seen = true;
        return event;
      }`,
    body: '<button id="a">A</button><p class="ph-no-capture"><button id="b">B</button></p>',
  });
  const page = await open(visit, "/?token=1");
  await page.evaluate(() => {
    posthog.capture("secret");
    posthog.capture("kept");
  });
  await page.click("#b");
  await page.click("#a");
  const events = await leftExactly(visit, page, "page_view", "kept");
  const view = named(events, "page_view");
  assert.deepEqual([view.url, view.properties], [`${visit.world.siteUrl}/`, { seen: true }]);
  const clicks = visit.gate.events(200).filter(({ name }) => name === "click");
  assert.deepEqual(clicks.map(({ properties }) => properties.selector), ["#a"]);
});

test("posthog's snippet: before_send is shown address, referrer and title, and what it makes of them is sent", async (visit) => {
  publish(visit, {
    config: `before_send: (event) => {
        const { properties } = event;
        properties.$current_url = properties.$current_url.replace(/[?].*/, "");
        properties.$referrer = properties.$referrer.replace(/[?].*/, "");
        properties.title = properties.title.replace("/", "masked");
        return event;
      }`,
  });
  const page = await open(visit, "/?token=1");
  await page.evaluate(() => {
    history.pushState(null, "", "/next");
    posthog.capture("after");
    posthog.capture("book", { title: "Middlemarch/" });
    posthog.capture("$pageview", { $referrer: "https://search.example/?q=1", title: "Own/" });
  });
  const events = await left(visit, page, "page_view", "after", "book", "page_view");
  const told = (name: string, nth = 0) => {
    const { referrer, title, properties } = events.filter((event) => event.name === name)[nth]!;
    return { referrer, title, properties };
  };
  const referrer = `${visit.world.siteUrl}/`;
  assert.deepEqual(told("page_view"), { referrer: "", title: "Page masked", properties: {} });
  assert.deepEqual(told("after"), { referrer, title: "Page masked", properties: {} });
  assert.deepEqual(told("book"), {
    referrer,
    title: undefined,
    properties: { title: "Middlemarchmasked" },
  });
  assert.deepEqual(told("page_view", 1), {
    referrer: "https://search.example/",
    title: "Ownmasked",
    properties: {},
  });
  const scrolls = events.filter(({ name }) => name === "scroll").map(({ title }) => title);
  assert.deepEqual(scrolls, ["Page masked", "Page masked"]);
  assert.deepEqual(visit.messages, []);
});

test("posthog's snippet: which navigation is a page view is for its settings to say", async (visit) => {
  const settings = [
    ["", 1],
    ["capture_pageview: false", 0],
    ["capture_pageview: 'history_change'", 2],
    ["defaults: '2025-05-24'", 2],
    ["defaults: '2025-11-30', autocapture: false", 2, 0],
    ["defaults: 'unset'", 1],
    ["defaults: '2025-11-30', capture_pageview: true", 1],
  ] as const;
  const expected: string[] = [];
  for (const [config, views, scrolls = views] of settings) {
    publish(visit, { config, body: "<button>Go</button>" });
    const page = await open(visit);
    await page.evaluate(() => history.pushState(null, "", "/next"));
    await page.click("button");
    await page.evaluate(() => posthog.capture("by hand"));
    expected.push("by hand", ...Array<string>(views).fill("page_view"));
    expected.push(...Array<string>(scrolls).fill("scroll"));
    await leftExactly(visit, page, ...expected);
    await page.close();
  }
  const clicks = visit.gate.events(200).filter(({ name }) => name === "click");
  const ids = new Set(clicks.map(({ eventId }) => eventId));
  assert.equal(ids.size, settings.length - 1, "autocapture: false");
  assert.deepEqual(visit.messages, []);
});

test("posthog's snippet: a prerendered page is viewed when it is shown", async (visit) => {
  publish(visit, { path: "/next" });
  const page = await shownAfterPrerendering(visit);
  await page.waitForFunction(() => globalThis.posthog?.__loaded);
  const [shownMs, shownAt] = await page.evaluate(() => {
    const [{ activationStart }] = performance.getEntriesByType("navigation") as Of;
    return [activationStart, performance.timeOrigin + activationStart] as const;
  });
  assert(shownMs > 500, "the browser did prerender it");
  const [view] = await left(visit, page, "page_view");
  assert(view.timestamp > shownAt - 250, "it counts as it is shown");
});

test("posthog's snippet: a project of another name beside the page's own", async (visit) => {
  const other = await visit.world.server.project();
  publish(visit, {
    calls: `posthog.init("${other.publicKey}", { api_host: "${visit.world.siteUrl}/analytics",
        capture_pageview: false }, "second");
      posthog.capture("for the first");`,
  });
  const page = await open(visit);
  await page.evaluate(() => posthog.second.capture("for the second"));
  await left(visit, page, "page_view", "for the first", "for the second");
  const byKey = Map.groupBy(visit.gate.posts, ({ key }) => key);
  const names = (key: string) =>
    byKey.get(key)!.flatMap(({ events }) => events.map(({ name }: Event) => name))
      .toSorted();
  assert.deepEqual(names(other.publicKey), ["for the second"]);
  assert.deepEqual(names(visit.project.publicKey), ["for the first", "page_view", "scroll"]);
});
