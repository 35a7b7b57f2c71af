import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IMPORTED_SOURCES } from "../../src/imported/imported_sums.ts";
import { FileProblem } from "../../src/importers/file_problem.ts";
import { type InputFile, memoryFile } from "../../src/importers/input_file.ts";
import { FATHOM } from "../../src/importers/sums/fathom.ts";
import { GOATCOUNTER_SUMS } from "../../src/importers/sums/goatcounter_sums.ts";
import { PLAUSIBLE } from "../../src/importers/sums/plausible.ts";
import type { SumSource } from "../../src/importers/sums/sum_source.ts";
import { loadSumSource } from "../../src/importers/sums/sum_sources.ts";
import { gathered, valuesOf } from "./read_sums.ts";
import { csvFile, jsonLines, textFile } from "./rows.ts";
import { zipOf } from "./zip_writer.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const NAME = (table: string) => `imported_${table}_20240301_20240303.csv`;
const VISITS = ["visitors", "visits", "visit_duration", "bounces", "pageviews"];

/** As Plausible writes it: of 2 March there is nothing. */
const PLAUSIBLE_FILES = [
  csvFile(NAME("visitors"), [
    ["date", "visitors", "pageviews", "bounces", "visits", "visit_duration"],
    ["2024-03-01", 10, 30, 6, 12, 600],
    ["2024-03-03", 2, 2, 2, 2, 0],
  ]),
  csvFile(NAME("sources"), [
    [
      ...["date", "source", "referrer", "utm_source", "utm_medium", "utm_campaign"],
      ...[
        "utm_content",
        "utm_term",
        "pageviews",
        "visitors",
        "visits",
        "visit_duration",
        "bounces",
      ],
    ],
    ["2024-03-01", "Google", "google.com", "", "", "", "", "", 10, 4, 5, 100, 2],
    ["2024-03-01", "", "", "", "", "", "", "", 12, 4, 4, 400, 3],
    ["2024-03-01", "news", "", "news", "email", "spring", "top", "shoes", 8, 2, 3, 100, 1],
    ["2024-03-03", "shop.test", "shop.test/a", "", "", "", "", "", 2, 2, 2, 0, 2],
  ]),
  csvFile(NAME("pages"), [
    ["date", "hostname", "page", "visits", "visitors", "pageviews", "total_scroll_depth"],
    ["2024-03-01", "shop.test", "/", 9, 8, 20, 5],
    ["2024-03-01", "www.shop.test", "/", 1, 1, 2, 5],
    ["2024-03-01", "shop.test", '/a,"b"', 3, 3, 8, 5],
    ["2024-03-01", "shop.test", "/ü b", 2, 2, 4, 5],
    ["2024-03-01", "www.shop.test", "/%C3%BC%20b", 1, 1, 1, 5],
    ["2024-03-01", "shop.test", "/100%", 1, 1, 1, 5],
    ["2024-03-01", "shop.test", "/app#/ü", 1, 1, 1, 5],
  ]),
  csvFile(NAME("entry_pages"), [
    ["date", "entry_page", "visitors", "entrances", "visit_duration", "bounces", "pageviews"],
    ["2024-03-01", "/", 9, 11, 500, 6, 28],
  ]),
  csvFile(NAME("exit_pages"), [
    ["date", "exit_page", "visitors", "visit_duration", "exits", "bounces", "pageviews"],
    ["2024-03-01", "/", 9, 500, 10, 6, 28],
  ]),
  csvFile(NAME("locations"), [
    ["date", "country", "region", "city", ...VISITS],
    ["2024-03-01", "DE", "DE-BE", 2950159, 5, 6, 100, 2, 10],
    ["2024-03-01", "DE", "DE-BY", 2867714, 2, 2, 50, 1, 5],
  ]),
  csvFile(NAME("devices"), [
    ["date", "device", ...VISITS],
    ["2024-03-01", "Desktop", 5, 6, 100, 2, 10],
    ["2024-03-01", "Laptop", 1, 1, 10, 0, 2],
    ["2024-03-01", "", 1, 1, 10, 1, 1],
  ]),
  csvFile(NAME("browsers"), [
    ["date", "browser", "browser_version", ...VISITS],
    ["2024-03-01", "Chrome", "120.0", 5, 6, 100, 2, 10],
    ["2024-03-01", "Chrome", "121.0", 2, 2, 50, 1, 5],
  ]),
  csvFile(NAME("operating_systems"), [
    ["date", "operating_system", "operating_system_version", ...VISITS],
    ["2024-03-01", "Mac", "10.15", 5, 6, 100, 2, 10],
  ]),
  csvFile(NAME("custom_events"), [
    ["date", "name", "link_url", "path", "visitors", "events"],
    ["2024-03-01", "Signup", "", "", 2, 3],
    ["2024-03-01", "engagement", "", "", 9, 90],
    ["2024-03-02", "Signup", "", "", 1, 1],
  ]),
];

async function bytesOf(file: InputFile): Promise<Uint8Array> {
  const chunks = await Array.fromAsync(file.read(0, file.size));
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

/** The same in a zip, as it is downloaded. */
async function zipped(name: string, files: readonly InputFile[]): Promise<InputFile> {
  const members = await Promise.all(
    files.map(async (file) => ({ name: file.name, bytes: await bytesOf(file), method: 0 })),
  );
  return memoryFile(name, zipOf(members));
}

Deno.test("sums of Plausible: every table, from the zip as from its files", async () => {
  const { days, refused, sums } = await gathered(PLAUSIBLE, PLAUSIBLE_FILES);
  assert.deepEqual(refused, []);
  const fromZip = await gathered(PLAUSIBLE, [await zipped("shop_test.zip", PLAUSIBLE_FILES)]);
  assert.deepEqual(fromZip.days, days);
  assert.deepEqual(sums.extent, { first: "2024-03-01", last: "2024-03-03" });
  const on = (dimension: string, day = "2024-03-01") => valuesOf(days, dimension, day);
  assert.deepEqual(on("all"), {
    null: { visitors: 10, visits: 12, pageviews: 30, bounces: 6, seconds: 600, events: 33 },
  });
  // The export holds that day: nobody was there, and somebody signed up.
  assert.deepEqual(on("all", "2024-03-02"), {
    null: { visitors: 0, visits: 0, pageviews: 0, bounces: 0, seconds: 0, events: 1 },
  });
  assert.deepEqual(on("path", "2024-03-02"), {});
  const brief = (values: ReturnType<typeof on>) =>
    Object.fromEntries(Object.entries(values).map(([value, { visits }]) => [value, visits]));
  assert.deepEqual(brief(on("channel")), { "Organic Search": 5, Direct: 4, Email: 3 });
  assert.deepEqual(brief(on("source")), { "google.com": 5, null: 4, news: 3 });
  assert.deepEqual(brief(on("medium")), { organic: 5, null: 4, email: 3 });
  assert.deepEqual(brief(on("campaign")), { null: 9, spring: 3 });
  assert.deepEqual(brief(on("term")), { null: 9, shoes: 3 });
  assert.deepEqual(brief(on("content")), { null: 9, top: 3 });
  assert.deepEqual(brief(on("referrer")), { "google.com": 5, null: 7 });
  // The site's own address is no referrer.
  assert.deepEqual(brief(on("channel", "2024-03-03")), { Direct: 2 });
  assert.deepEqual(on("path"), {
    "/": { visitors: 9, pageviews: 22 },
    "/a,%22b%22": { visitors: 3, pageviews: 8 },
    "/%C3%BC%20b": { visitors: 3, pageviews: 5 },
    "/100%25": { visitors: 1, pageviews: 1 },
    "/app#/ü": { visitors: 1, pageviews: 1 },
  });
  assert.deepEqual(on("entryPath"), {
    "/": { visitors: 9, visits: 11, bounces: 6, seconds: 500, pageviews: 28 },
  });
  assert.deepEqual(on("exitPath"), { "/": { visitors: 9, visits: 10 } });
  assert.deepEqual(brief(on("country")), { DE: 8 });
  assert.deepEqual(brief(on("region")), { "DE-BE": 6, "DE-BY": 2 });
  assert.equal(days.some(({ dimension }) => dimension === "city"), false);
  assert.deepEqual(brief(on("device")), { desktop: 7, null: 1 });
  assert.deepEqual(brief(on("browser")), { Chrome: 8 });
  assert.deepEqual(brief(on("os")), { macOS: 6 });
});

Deno.test("sums of Plausible: rows that hold none are refused with their line, the others are taken", async () => {
  const { days, refused } = await gathered(PLAUSIBLE, [
    csvFile("imported_pages.csv", [
      ["date", "hostname", "page", "visits", "visitors", "pageviews"],
      ["2024-03-01", "", "/", 1, 1, 1],
      ["2024-02-30", "", "/", 1, 1, 1],
      ["2024-03-01", "", "/", 1, -1, 1],
      ["2024-03-01", "", "/", 1, 1, "many"],
      ["2024-03-01", "", `/${"x".repeat(2048)}`, 1, 1, 1],
      ["2024-03-01", "", "/"],
    ]),
  ]);
  assert.deepEqual(refused.map(({ line, code }) => [line, code]), [
    [3, "invalid_date"],
    [4, "invalid_number"],
    [5, "invalid_number"],
    [6, "too_long"],
    [7, "invalid_row"],
  ]);
  assert.deepEqual(valuesOf(days, "path", "2024-03-01"), { "/": { visitors: 1, pageviews: 1 } });
  // Nothing else tells of the day as a whole.
  assert.deepEqual(valuesOf(days, "all", "2024-03-01"), { null: { pageviews: 1, events: 1 } });
});

Deno.test("sums: the error for a file that is not one, or would count twice, is a sentence", async () => {
  const pages = (name: string) =>
    csvFile(name, [["date", "page", "visitors", "pageviews"], ["2024-03-01", "/", 1, 1]]);
  const cases: readonly [SumSource, readonly InputFile[], RegExp][] = [
    [PLAUSIBLE, [textFile("pages.csv", "a,b\n")], /pages\.csv: its name is none of Plausible's/],
    [PLAUSIBLE, [textFile("imported_pages.csv", "a,b\n")], /no column `date`/],
    [PLAUSIBLE, [textFile("imported_pages.csv", "")], /imported_pages\.csv: it is empty/],
    [
      PLAUSIBLE,
      [pages("a/imported_pages.csv"), pages("b/imported_pages.csv")],
      /b\/imported_pages\.csv: 2024-03-01 stands in a\/imported_pages\.csv too/,
    ],
    [FATHOM, [textFile("Pages.csv", "Pathname,Views\n/,1\n")], /no column has the day/],
    [FATHOM, [textFile("Pages.csv", "Timestamp,Pathname\n")], /no column has page views/],
    [GOATCOUNTER_SUMS, [jsonLines("hit_stats.jsonl", [])], /lacks paths\.jsonl/],
    [
      GOATCOUNTER_SUMS,
      [
        textFile("info.json", '{"export_version": "2.0"}'),
        ...["paths.jsonl", "hit_stats.jsonl"].map((name) => jsonLines(name, [])),
      ],
      /version "2\.0" of the export is not known/,
    ],
  ];
  for (const [source, files, message] of cases) {
    await assert.rejects(
      () => gathered(source, files),
      (error) => error instanceof FileProblem && message.test(error.message),
      String(message),
    );
  }
});

Deno.test("sums of GoatCounter: its JSON export, pages once a visit and events apart", async () => {
  const files = [
    textFile("info.json", '{\n  "export_version": 1.0,\n  "goatcounter_version": "2.7"\n}\n'),
    jsonLines("hit_stats.jsonl", [
      { hour: "2026-03-05T19:00:00Z", path_id: 211, ref_id: 1, count: 4 },
      { hour: "2026-03-05T20:00:00Z", path_id: 211, ref_id: 2, count: 1 },
      { hour: "2026-03-05T20:00:00Z", path_id: 9, ref_id: 1, count: 2 },
      { hour: "2026-03-06T20:00:00Z", path_id: 9, ref_id: 1, count: 3 },
      { hour: "2026-03-06T20:00:00Z", path_id: 77, ref_id: 1, count: 3 },
      { hour: "2026-03-07T20:00:00Z", path_id: 1, ref_id: 1, count: 3 },
      { hour: "2026-03-07T20:00:00Z", path_id: 2, ref_id: 1, count: 2 },
      { hour: "2026-03-07T21:00:00Z", path_id: 3, ref_id: 1, count: 1 },
    ]),
    jsonLines("paths.jsonl", [
      { id: 211, event: false, path: "/", title: "Home" },
      { id: 9, event: true, path: "click-banana", title: "" },
      ...["/ü?page=1", "/%C3%BC?page=2", "/b?c#d"].map((path, i) => ({ id: i + 1, path })),
    ]),
    jsonLines("browser_stats.jsonl", [{
      day: "2026-03-05",
      path_id: 211,
      browser_id: 1,
      count: 5,
    }]),
  ];
  const { days, refused, read } = await gathered(GOATCOUNTER_SUMS, [await zipped("g.zip", files)]);
  assert.deepEqual(refused.map(({ line, code }) => [line, code]), [[5, "unknown_path"]]);
  assert.deepEqual(valuesOf(days, "all", "2026-03-05"), { null: { pageviews: 5, events: 7 } });
  assert.deepEqual(valuesOf(days, "all", "2026-03-06"), { null: { pageviews: 0, events: 3 } });
  assert.deepEqual(valuesOf(days, "path", "2026-03-05"), { "/": { visitors: 5, pageviews: 5 } });
  assert.deepEqual(valuesOf(days, "path", "2026-03-07"), {
    "/%C3%BC": { visitors: 5, pageviews: 5 },
    "/b#d": { visitors: 1, pageviews: 1 },
  });
  assert.deepEqual(read.map(({ table }) => table), ["paths", "hits", null, null]);
});

Deno.test("sums of Fathom: a file a dimension by the hour, as the dashboard exports it", async () => {
  const { days } = await gathered(FATHOM, [
    csvFile("Site.csv", [
      ["Timestamp", "Pageviews", "Visits", "Uniques", "Bounce Rate", "Avg Duration"],
      ["2023-05-01 10:00:00", 10, 4, 4, "0.5", "30"],
      ["2023-05-01 11:00:00", 5, 3, 2, "0.3333", "10.5"],
    ]),
    csvFile("Pages.csv", [
      ["Timestamp", "Hostname", "Pathname", "Views", "Uniques"],
      ["2023-05-01 10:00:00", "https://shop.test", "/", 10, 4],
      ["2023-05-01 11:00:00", "https://shop.test", "/", 5, 2],
      ["2023-05-01 11:00:00", "https://shop.test", "/ü", 2, 2],
      ["2023-05-01 11:00:00", "https://shop.test", "/%C3%BC", 1, 1],
    ]),
    csvFile("Countries.csv", [
      ["Timestamp", "Country", "Pageviews"],
      ["2023-05-01 10:00:00", "Germany", 10],
      ["2023-05-01 11:00:00", "DE", 5],
    ]),
    csvFile("Referrers.csv", [
      ["Timestamp", "Referrer Hostname", "Referrer Pathname", "Views", "Visits"],
      ["2023-05-01 10:00:00", "https://www.google.com", "/", 10, 4],
    ]),
    csvFile("Events.csv", [
      ["Timestamp", "Event Name", "Completions"],
      ["2023-05-01 10:00:00", "Signup", 2],
    ]),
  ]);
  const on = (dimension: string) => valuesOf(days, dimension, "2023-05-01");
  assert.deepEqual(on("all"), {
    null: { visitors: 6, visits: 7, pageviews: 15, bounces: 3, seconds: 151.5, events: 17 },
  });
  assert.deepEqual(on("path"), {
    "/": { visitors: 6, pageviews: 15 },
    "/%C3%BC": { visitors: 3, pageviews: 3 },
  });
  assert.deepEqual(on("country"), { DE: { pageviews: 15 } });
  assert.deepEqual(on("channel"), { "Organic Search": { visits: 4, pageviews: 10 } });
  assert.deepEqual(on("referrer"), { "google.com": { visits: 4, pageviews: 10 } });
});

Deno.test("sums of Fathom: visitors of the site beside those of a page, as since 2026", async () => {
  const { days } = await gathered(FATHOM, [
    csvFile("pageviews-site-totals.csv", [
      ["datetime", "visitors", "uniques", "pageviews", "avg_duration", "bounce_rate"],
      ["2026-05-01 00:00:00", 4, 4, 10, "30", "0.5"],
    ]),
    csvFile("pageviews-pathname.csv", [
      ["datetime", "pathname", "visitors", "uniques", "pageviews"],
      ["2026-05-01 00:00:00", "/", 3, 4, 10],
    ]),
  ]);
  const on = (dimension: string) => valuesOf(days, dimension, "2026-05-01");
  assert.deepEqual(on("all"), {
    null: { visitors: 4, visits: 4, pageviews: 10, bounces: 2, seconds: 120, events: 10 },
  });
  assert.deepEqual(on("path"), { "/": { visitors: 4, visits: 3, pageviews: 10 } });
});

Deno.test("sums of Fathom: all dimensions in one file, named as the API does", async () => {
  const columns = [
    ...["datetime", "hostname", "pathname", "referrer_hostname", "utm_source", "utm_medium"],
    ...["browser", "operating_system", "country_code", "city", "device_type", "pageviews"],
  ];
  const { days, refused } = await gathered(FATHOM, [
    csvFile("pageviews.csv", [
      columns,
      [
        "2025-05-01 10:00:00",
        "s",
        "/a",
        "",
        "news",
        "email",
        "Chrome",
        "OS X",
        "DE",
        "Bonn",
        "Laptop",
        3,
      ],
      ["2025-05-01 10:00:00", "s", "/b", "", "", "", "Safari", "iOS", "", "", "Phone", 2],
    ]),
  ]);
  assert.deepEqual(refused, []);
  const views = (dimension: string) =>
    Object.fromEntries(
      Object.entries(valuesOf(days, dimension, "2025-05-01"))
        .map(([value, { pageviews }]) => [value, pageviews]),
    );
  assert.deepEqual(views("path"), { "/a": 3, "/b": 2 });
  assert.deepEqual(views("all"), { null: 5 });
  assert.deepEqual(views("channel"), { Email: 3, Direct: 2 });
  assert.deepEqual(views("os"), { macOS: 3, iOS: 2 });
  assert.deepEqual(views("device"), { desktop: 3, mobile: 2 });
  assert.deepEqual(views("city"), { Bonn: 3, null: 2 });
  assert.equal(days.some(({ dimension }) => dimension === "campaign"), false);
});

Deno.test("sums: the manual has a row for everything that a product's files become", async () => {
  const flowing = (text: string) => text.replaceAll("*", "_").replace(/\s+/g, " ").trim();
  const page = Deno.readTextFileSync(join(ROOT, "docs/imported-history.md"));
  const rows = page.split("\n").filter((line) => line.startsWith("| "))
    .map((line) => line.slice(1, -1).split(" | ").map(flowing));
  const readme = flowing(Deno.readTextFileSync(join(ROOT, "README.md")));
  for (const name of IMPORTED_SOURCES) {
    const { title, takes, shape, notes } = await loadSumSource(name);
    for (const { theirs, ours, how = "" } of notes) {
      const wanted = [theirs, ours ?? "not imported", how].map(flowing);
      assert.ok(rows.some((row) => row.join("|") === wanted.join("|")), `${name}: ${theirs}`);
    }
    assert.ok(flowing(page).includes(flowing(`takes ${takes}.`)), title);
    assert.ok(flowing(page).includes(flowing(`Known: ${shape}.`)), title);
    assert.ok(readme.includes(flowing(takes)), title);
  }
});
