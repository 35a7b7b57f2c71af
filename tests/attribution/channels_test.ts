import assert from "node:assert/strict";
import fc from "fast-check";
import { CLICK_ID_PARAMETERS } from "../../src/ingest/campaign.ts";
import {
  CHANNEL_RULES,
  CHANNELS,
  classifyTraffic,
  CLICK_IDS,
  type TrafficFacts,
} from "../../src/attribution/channels.ts";
import { hostOfAddress } from "../../src/attribution/host.ts";
import { kindOfSource, SOURCE_KINDS, SOURCE_LISTS } from "../../src/attribution/source_lists.ts";
import { CHANNEL_CASES, PAGE_HOST, SITE_HOST } from "../fixtures/channel_cases.ts";

const NOTHING: TrafficFacts = {
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
  clickIdKind: null,
  referrerHost: null,
  host: null,
};

function factsOf(tags: string, referrerHost: string | null): TrafficFacts {
  const query = new URLSearchParams(tags);
  return {
    utmSource: query.get("source"),
    utmMedium: query.get("medium"),
    utmCampaign: query.get("campaign"),
    utmTerm: query.get("term"),
    utmContent: query.get("content"),
    clickIdKind: query.get("click"),
    referrerHost,
    host: PAGE_HOST,
  };
}

Deno.test("classifyTraffic: source, medium and channel of every case", async (t) => {
  for (const [tags, referrer, origin, channel] of CHANNEL_CASES) {
    await t.step(`${tags || "no tags"}, from ${referrer ?? "nowhere"}`, () => {
      const traffic = classifyTraffic(factsOf(tags, referrer), SITE_HOST);
      const told = `${traffic.source ?? "-"} / ${traffic.medium ?? "-"}`;
      assert.deepEqual([told, traffic.channel], [origin, channel]);
    });
  }
});

Deno.test("classifyTraffic: the cases reach every rule, and each gives its own channel", () => {
  const reached = new Map(CHANNEL_CASES.map(([tags, referrer]) => {
    const { rule, channel } = classifyTraffic(factsOf(tags, referrer), SITE_HOST);
    return [rule, channel];
  }));
  const rules = new Map(CHANNEL_RULES.map(({ rule, channel }) => [rule, channel]));
  assert.equal(rules.size, CHANNEL_RULES.length, "names are unique");
  assert.deepEqual([...reached].sort(), [...rules].sort());
  assert.deepEqual(new Set(rules.values()), new Set(CHANNELS));
});

Deno.test("classifyTraffic: a site with letters beyond ASCII is not its own referrer", () => {
  const site = new URL("https://bücher.example/").hostname;
  for (const referrer of ["https://bücher.example/a", "https://www.BÜCHER.example/"]) {
    const facts = { ...factsOf("", hostOfAddress(referrer)), host: site };
    assert.equal(classifyTraffic(facts, site).channel, "Direct");
  }
});

Deno.test("classifyTraffic: the rules and tags in full", () => {
  const tags = "source=Google&medium=cpc&campaign=Brand&term=beans&content=Top&click=gclid";
  assert.deepEqual(classifyTraffic(factsOf(tags, "www.google.de"), null), {
    source: "Google",
    medium: "cpc",
    campaign: "Brand",
    term: "beans",
    content: "Top",
    referrer: "google.de",
    channel: "Paid Search",
    rule: "paid search: paid click from a search engine",
  });
  assert.deepEqual(classifyTraffic(NOTHING, null), {
    source: null,
    medium: null,
    campaign: null,
    term: null,
    content: null,
    referrer: null,
    channel: "Direct",
    rule: "direct: no source, medium or campaign",
  });
});

Deno.test("classifyTraffic: own hosts are not referrers, also beside a tag", () => {
  for (const own of ["shop.example", "WWW.SHOP.EXAMPLE", "store.example", "www.store.example"]) {
    const traffic = classifyTraffic(factsOf("source=a&medium=email", own), SITE_HOST);
    assert.equal(traffic.referrer, null, own);
  }
  const other = classifyTraffic(factsOf("source=a", "www.other.example"), SITE_HOST);
  assert.equal(other.referrer, "other.example");
});

Deno.test("CLICK_IDS: the parameters that ingestion reads, all but fbclid paid", () => {
  assert.deepEqual([...CLICK_IDS.keys()].sort(), [...CLICK_ID_PARAMETERS].sort());
  const unpaid = [...CLICK_IDS].filter(([, { paid }]) => !paid).map(([name]) => name);
  assert.deepEqual(unpaid, ["fbclid"]);
  for (const [name, { source }] of CLICK_IDS) assert.notEqual(kindOfSource(source), null, name);
});

Deno.test("source lists: every entry lower case, listed once, of a known kind", () => {
  for (const [list, entries] of Object.entries(SOURCE_LISTS)) {
    // A key that stands twice in the file is one in the object that is read from it.
    const file = new URL(`../../src/attribution/data/source_${list}.json`, import.meta.url);
    const keys = [...Deno.readTextFileSync(file).matchAll(/^ {2}"(.*?)": "/gm)].map(([, key]) =>
      key!
    );
    assert.deepEqual(keys, [...new Set(keys)], list);
    assert.deepEqual(keys.toSorted(), [...entries.keys()].sort(), `${list}: one line each`);
    for (const [key, kind] of entries) {
      assert.equal(key, key.toLowerCase().trim(), key);
      assert.ok(!key.startsWith("www."), key);
      assert.ok((SOURCE_KINDS as readonly string[]).includes(kind), `${key}: ${kind}`);
      assert.equal(list === "names", !key.includes("."), key);
    }
  }
});

Deno.test("source lists: every entry is found with its kind, whatever contains it", () => {
  const { sites, hosts, names } = SOURCE_LISTS;
  for (const [name, kind] of names) assert.equal(kindOfSource(name), kind, name);
  for (const [host, kind] of hosts) {
    for (const ending of ["com", "de", "co.uk", "com.br"]) {
      assert.equal(kindOfSource(`www.${host.replace("*", ending)}`), kind, host);
    }
  }
  for (const [site, kind] of sites) {
    for (const ending of ["com", "de", "co.uk", "com.br"]) {
      const host = site.replace("*", ending);
      assert.equal(kindOfSource(host), kind, host);
      if (!hosts.has(`m.${site}`)) assert.equal(kindOfSource(`a.b.${host}`), kind, `a.b.${host}`);
      assert.equal(kindOfSource(`${host}.example`), null, `${host}.example`);
    }
  }
});

Deno.test("source lists: contain the best known sources", () => {
  const least = { search: 40, social: 60, shopping: 20, video: 15, ai: 15 };
  const hosts = [...SOURCE_LISTS.sites, ...SOURCE_LISTS.hosts];
  for (const [kind, count] of Object.entries(least)) {
    assert.ok(hosts.filter(([, other]) => other === kind).length >= count, kind);
  }
});

/** Text that rules look for, in odd company: random text alone would meet none of them. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 2048 }),
  fc.array(
    fc.constantFrom(
      "shop",
      "google",
      "cpc",
      "paid",
      "www.",
      ".",
      "com",
      "uk",
      "push",
      "-",
      " ",
      "İ",
    ),
    { maxLength: 400 },
  ).map((parts) => parts.join("")),
);
const anything = fc.option(text);
const arbitraryFacts = fc.record<TrafficFacts>({
  utmSource: anything,
  utmMedium: anything,
  utmCampaign: anything,
  utmTerm: anything,
  utmContent: anything,
  clickIdKind: fc.oneof(fc.constantFrom(...CLICK_ID_PARAMETERS, null, "__proto__"), anything),
  referrerHost: anything,
  host: anything,
});

Deno.test("classifyTraffic: never throws, knows its channels, keeps tags and their case", () => {
  fc.assert(fc.property(arbitraryFacts, anything, (facts, siteHost) => {
    const traffic = classifyTraffic(facts, siteHost);
    const rule = CHANNEL_RULES.find((each) => each.rule === traffic.rule);
    assert.equal(rule?.channel, traffic.channel);
    assert.ok(CHANNELS.includes(traffic.channel));
    if (facts.utmSource?.trim()) assert.equal(traffic.source, facts.utmSource);
    const decides = !facts.utmSource?.trim() && CLICK_IDS.get(facts.clickIdKind ?? "")?.paid;
    if (facts.utmMedium?.trim() && !decides) assert.equal(traffic.medium, facts.utmMedium);
    if (traffic.channel === "Direct" && !facts.utmSource?.trim()) {
      assert.equal(traffic.source, null);
      assert.equal(traffic.referrer, null);
    }
  }));
});

Deno.test("classifyTraffic: ASCII case of the tags changes no channel", () => {
  const tag = fc.oneof(
    fc.constantFrom(...SOURCE_LISTS.names.keys(), ...SOURCE_LISTS.sites.keys()),
    fc.constantFrom("cpc", "email", "e mail", "social", "video", "push", "eshop", "sms"),
    fc.string(),
  );
  fc.assert(fc.property(tag, tag, tag, (utmSource, utmMedium, utmCampaign) => {
    const sent = { ...NOTHING, utmSource, utmMedium, utmCampaign };
    const shouted = {
      ...sent,
      utmSource: utmSource.toUpperCase(),
      utmMedium: utmMedium.toUpperCase(),
      utmCampaign: utmCampaign.toUpperCase(),
    };
    assert.equal(classifyTraffic(sent, null).rule, classifyTraffic(shouted, null).rule);
  }));
});

Deno.test("classifyTraffic: hostile text takes linear time", () => {
  const shapes = [
    "shop",
    "paid",
    "cpc-",
    ".",
    "a.",
    "www.",
    "google.",
    "-",
    " ",
    "video",
    "co.uk.",
  ];
  const startMs = performance.now();
  for (const shape of shapes) {
    // A hundred times what is ever stored: quadratic matching would take minutes.
    const long = shape.repeat(200_000 / shape.length);
    for (const [utmSource, referrerHost] of [[long, null], [null, long]] as const) {
      classifyTraffic(
        { ...NOTHING, utmSource, utmMedium: long, utmCampaign: long, referrerHost, host: long },
        long,
      );
    }
  }
  const spentMs = performance.now() - startMs;
  assert.ok(spentMs < 5_000, `${spentMs.toFixed()} ms`);
});
