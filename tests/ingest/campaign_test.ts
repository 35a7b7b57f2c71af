import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { CLICK_ID_PARAMETERS, readCampaign } from "../../src/ingest/campaign.ts";

Deno.test("readCampaign: reads all parameters in any case, decoded", () => {
  deepStrictEqual(
    readCampaign(
      "?a=b&utm_source=news%20letter&UTM_Medium=e+mail&utm_campaign=M%C3%A4rz%26April" +
        "&utm_term=%ff&utm%5Fcontent=x=y&gclid=1#utm_source=fragment",
    ),
    {
      utm_source: "news letter",
      utm_medium: "e mail",
      utm_campaign: "März&April",
      utm_term: "\ufffd",
      utm_content: "x=y",
      click_id_kind: "gclid",
    },
  );
});

Deno.test("readCampaign: nothing, an empty value, NUL and a fragment name no campaign", () => {
  const none = readCampaign(null);
  strictEqual(Object.values(none).every((value) => value === null), true);
  strictEqual(Object.isFrozen(none), true);
  const rests = [
    "",
    "?",
    "#utm_source=a",
    "?a=b",
    "?utm_source",
    "?utm_source=&gclid=",
    "?xutm_source=a",
  ];
  for (
    const rest of [...rests, "?utm_source=a%00b", "?utm_id=5", "?my_gclid=5", "?__proto__=gclid"]
  ) {
    deepStrictEqual(readCampaign(rest), { ...none }, rest);
  }
});

Deno.test("readCampaign: the first of a name counts, even if it is empty", () => {
  strictEqual(readCampaign("?utm_source=a&utm_source=b").utm_source, "a");
  strictEqual(readCampaign("?UTM_SOURCE=a&utm_source=b").utm_source, "a");
  strictEqual(readCampaign("?utm_source=&utm_source=b").utm_source, null);
});

Deno.test("readCampaign: of several click ids the strongest names the kind, whatever the order", () => {
  for (const name of CLICK_ID_PARAMETERS) {
    strictEqual(readCampaign(`?fbclid=1&${name}=2`).click_id_kind, name);
    strictEqual(readCampaign(`?${name.toUpperCase()}=2`).click_id_kind, name);
  }
  strictEqual(readCampaign("?gclid=&fbclid=1").click_id_kind, "fbclid");
});

Deno.test("readCampaign: agrees with URLSearchParams on any query", () => {
  const name = fc.constantFrom("utm_source", "utm_medium", "gclid", "utm%5fterm", "x", "", "%");
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("%", "%4", "a+b", "%e2%82", "%41"),
  );
  const pairs = fc.array(fc.tuple(name, value).map(([n, v]) => `${n}=${v.replace(/[#&]/g, "")}`));
  fc.assert(fc.property(pairs, (list) => {
    const query = list.join("&");
    const params = new URLSearchParams(query);
    const expected = (key: string) => {
      const text = params.get(key);
      return text === null || text === "" || text.includes("\0") ? null : text;
    };
    const campaign = readCampaign(`?${query}`);
    strictEqual(campaign.utm_source, expected("utm_source"));
    strictEqual(campaign.utm_medium, expected("utm_medium"));
    strictEqual(campaign.utm_term, expected("utm_term"));
    strictEqual(campaign.click_id_kind, expected("gclid") === null ? null : "gclid");
  }));
});
