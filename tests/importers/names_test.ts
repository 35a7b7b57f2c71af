import assert from "node:assert/strict";
import {
  browserName,
  deviceClass,
  deviceOfSystem,
  systemName,
} from "../../src/importers/agent_names.ts";
import { addressOf, numberOf, sizeOf, timeOf } from "../../src/importers/fields.ts";
import { instantOf } from "../../src/importers/mixpanel/zone.ts";
import { map as mapAmplitude } from "../../src/importers/amplitude/map.ts";
import { map as mapGa4 } from "../../src/importers/ga4/map.ts";
import { map as mapMixpanel } from "../../src/importers/mixpanel/map.ts";
import { map as mapPosthog } from "../../src/importers/posthog/map.ts";
import { countryCode, placeOf } from "../../src/importers/places.ts";
import type { MapContext } from "../../src/importers/source.ts";

Deno.test("countries are known by code and by their English names, with or without marks", () => {
  const cases: [unknown, string | null][] = [
    ["de", "DE"],
    ["United States", "US"],
    ["United Kingdom", "GB"],
    ["Germany", "DE"],
    ["Türkiye", "TR"],
    ["Turkey", "TR"],
    ["Hong Kong", "HK"],
    ["Czechia", "CZ"],
    ["Myanmar (Burma)", "MM"],
    ["Côte d’Ivoire", "CI"],
    ["Cote d'Ivoire", "CI"],
    ["Bosnia & Herzegovina", "BA"],
    ["South Korea", "KR"],
    ["Russia", "RU"],
    ["UK", "GB"],
    ["USA", "US"],
    ["The Bahamas", "BS"],
    ["The Netherlands", "NL"],
    ["Cabo Verde", "CV"],
    ["Congo Republic", "CG"],
    ["DR Congo", "CD"],
    ["Trinidad and Tobago", "TT"],
    ["Antigua and Barbuda", "AG"],
    ["Antigua & Barbuda", "AG"],
    ["Saint Kitts and Nevis", "KN"],
    ["St Kitts and Nevis", "KN"],
    ["St. Kitts & Nevis", "KN"],
    ["Saint Lucia", "LC"],
    ["Saint Martin", "MF"],
    ["Saint Vincent and the Grenadines", "VC"],
    ["São Tomé and Príncipe", "ST"],
    ["Turks and Caicos Islands", "TC"],
    ["Federated States of Micronesia", "FM"],
    ["Hashemite Kingdom of Jordan", "JO"],
    ["Cocos [Keeling] Islands", "CC"],
    ["Congo [DRC]", "CD"],
    ["Congo [Republic]", "CG"],
    ["Congo (the Democratic Republic of the)", "CD"],
    ["Bonaire, Sint Eustatius, and Saba", "BQ"],
    ["Bonaire, Sint Eustatius and Saba", "BQ"],
    ["Bonaire, Saint Eustatius and Saba", "BQ"],
    ["Åland", "AX"],
    ["Palestinian Territory", "PS"],
    ["Palestine, State of", "PS"],
    ["Vatican", "VA"],
    ["Holy See", "VA"],
    ["U.S. Minor Outlying Islands", "UM"],
    ["Lao People's Democratic Republic", "LA"],
    ["United Republic of Tanzania", "TZ"],
    ["Tanzania, United Republic of", "TZ"],
    ["Tanzania, the United Republic of", "TZ"],
    ["Moldova, Republic of", "MD"],
    ["Moldova (the Republic of)", "MD"],
    ["Micronesia, Federated States of", "FM"],
    ["Bolivia, Plurinational State of", "BO"],
    ["Bolivia (Plurinational State of)", "BO"],
    ["Venezuela, Bolivarian Republic of", "VE"],
    ["Korea, Republic of", "KR"],
    ["Korea, Democratic People's Republic of", "KP"],
    ["Iran, Islamic Republic of", "IR"],
    ["Netherlands (Kingdom of the)", "NL"],
    ["Taiwan (Province of China)", "TW"],
    ["Virgin Islands, U.S.", "VI"],
    ["xx", null],
    ["ZZ", null],
    ["(not set)", null],
    ["Atlantis", null],
    ["", null],
    [null, null],
    [7, null],
  ];
  assert.deepEqual(cases.map(([name]) => countryCode(name)), cases.map(([, code]) => code));
  assert.equal(placeOf("(not set)", "", null), null);
  assert.deepEqual(placeOf("France", "Île-de-France", "Paris"), {
    country: "FR",
    region: "Île-de-France",
    city: "Paris",
  });
});

Deno.test("browsers and systems lose their versions, and what nobody knows stays", () => {
  const browsers = [
    "Chrome 120.0.1",
    "Mobile Safari",
    "Microsoft Edge",
    "Chrome Mobile",
    "Dillo 3",
  ];
  assert.deepEqual(browsers.map(browserName), ["Chrome", "Safari", "Edge", "Chrome", "Dillo"]);
  const systems = [
    "Mac OS X",
    "Windows 11",
    "iPadOS",
    "GNU/Linux",
    "Android 14",
    "Haiku",
    "Unknown",
  ];
  assert.deepEqual(systems.map(systemName), [
    ...["macOS", "Windows", "iOS", "Linux", "Android", "Haiku"],
    null,
  ]);
  const devices = ["Desktop", "laptop", "Smartphone", "Apple iPad", "smart tv", "Phablet", "?"];
  assert.deepEqual(devices.map(deviceClass), [
    ...["desktop", "desktop", "mobile", "tablet", "other", "mobile"],
    null,
  ]);
  assert.equal(deviceOfSystem("iOS", { width: 820, height: 1180 }), "tablet");
  assert.equal(deviceOfSystem("Android", { width: 599, height: 900 }), "mobile");
  assert.equal(deviceOfSystem("Android", { width: 600, height: 900 }), "tablet");
  assert.equal(deviceOfSystem("Haiku", null), null);
});

Deno.test("times of exports: without a zone they are UTC, and other text stays, to be refused", () => {
  const cases: [unknown, string | null][] = [
    ["2026-05-01 10:00:00", "2026-05-01T10:00:00Z"],
    ["2026-05-01T10:00:00.5", "2026-05-01T10:00:00.5Z"],
    ["2026-05-01 10:00:00.123+00", "2026-05-01T10:00:00.123+00:00"],
    ["2026-05-01 10:00:00+05:30", "2026-05-01T10:00:00+05:30"],
    ["2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"],
    ["yesterday", "yesterday"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    ["", null],
  ];
  assert.deepEqual(cases.map(([time]) => timeOf(time)), cases.map(([, iso]) => iso));
  assert.deepEqual([numberOf("3.5"), numberOf(" "), numberOf("x"), numberOf(Infinity)], [
    ...[3.5, null, null, null],
  ]);
  assert.deepEqual([sizeOf("1440x900"), sizeOf("1440,900,2"), sizeOf("0x0"), sizeOf("big")], [
    { width: 1440, height: 900 },
    { width: 1440, height: 900 },
    null,
    null,
  ]);
  assert.equal(addressOf("a.example", "/x#y", "q=1"), "https://a.example/x?q=1#y");
  assert.equal(addressOf(null, "x", null), "/x");
});

Deno.test("times that clocks in a zone showed, across its changes", () => {
  const shown = (text: string) => Date.parse(`${text}Z`);
  const cases: [string, string][] = [
    ["2022-01-15T12:00:00", "2022-01-15T11:00:00"],
    ["2022-07-15T12:00:00", "2022-07-15T10:00:00"],
    // The night of 30 October 2022: the hour from 2 to 3 came twice.
    ["2022-10-30T01:30:00", "2022-10-29T23:30:00"],
    ["2022-10-30T02:30:00", "2022-10-30T00:30:00"],
    ["2022-10-30T03:30:00", "2022-10-30T02:30:00"],
    ["2022-03-27T03:30:00", "2022-03-27T01:30:00"],
  ];
  for (const [local, utc] of cases) {
    assert.equal(new Date(instantOf(shown(local), "Europe/Berlin")).toISOString(), `${utc}.000Z`);
  }
  assert.equal(instantOf(5, null), 5);
});

Deno.test("a time beyond all dates stays as it is, for the server to refuse its row", () => {
  for (const ms of [1e16, -1e16, 8.64e15]) assert.equal(instantOf(ms, "Pacific/Apia"), ms);
});

Deno.test("importers: events are called as they were, whatever the name", () => {
  const ids = { fromRow: () => "id", fromTheirs: () => "id" };
  const nameOf = (mapped: readonly unknown[]) =>
    (mapped[0] as { event: { name: unknown } }).event.name;
  // Members that every object has.
  for (const name of ["constructor", "toString", "hasOwnProperty", "valueOf"]) {
    const context = { ids, timeZone: "UTC" } as unknown as MapContext;
    const rows = [
      nameOf(mapAmplitude({ event_type: name }, context)),
      nameOf(mapGa4({ event_name: name }, context)),
      nameOf(mapMixpanel({ event: name, properties: {} }, context)),
      nameOf(mapPosthog({ event: name, properties: {} }, context)),
    ];
    assert.deepEqual(rows, [name, name, name, name]);
  }
});
