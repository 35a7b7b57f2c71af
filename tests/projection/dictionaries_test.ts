import assert from "node:assert/strict";
import { Dictionaries, digestOf, rowText } from "../../src/projection/dictionaries.ts";
import { type KnownProject, KnownProjects } from "../../src/projection/known_projects.ts";
import { LocalDays } from "../../src/projection/local_days.ts";
import {
  KNOWN_CHARACTERS_MAX,
  KNOWN_DAYS_MAX,
  KNOWN_TEXTS_MAX,
} from "../../src/projection/projection_limits.ts";
import { foreignHost, hostOfAddress } from "../../src/attribution/host.ts";
import { DAY_MS } from "../../src/limits.ts";
import { columnsOf } from "../support/event_batch.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { fakeSql } from "../support/fake_sql.ts";

const TEXTS = [
  "",
  "a",
  "a b",
  'a"b',
  "a\\b",
  "a,b",
  "(a)",
  "\t",
  "\n",
  "ä",
  "\u00a0",
  "日本",
  "null",
];
/** Addresses, their hosts, and what of these is none of `www.host.test`. */
const ADDRESSES: readonly (readonly [string, string | null, string | null])[] = [
  ["https://www.Example.com/a?b#c", "www.example.com", "example.com"],
  ["http://user:pass@host.test:8080/", "host.test", null],
  ["http://user:pass@other.test:8080/", "other.test", "other.test"],
  ["https://[2001:db8::1]:80/a", "[2001:db8::1]", "[2001:db8::1]"],
  ["http://[1.2]x/", "[1.2]x", "[1.2]x"],
  ["http://a@b@c/", "b", "b"],
  ["http://@/", null, null],
  ["https://host.test.", "host.test.", null],
  ["https://other.test.", "other.test.", "other.test"],
  ["https://www.", "www.", null],
  ["https://WWW.Bücher.test:8080/ä", "www.xn--bcher-kva.test", "xn--bcher-kva.test"],
  ["https://host。test/", "host.test", null],
  ["https://bü%.test/", "bü%.test", "bü%.test"],
  ["mailto:a@b.test", null, null],
  ["//host.test/a", null, null],
  ["android-app://com.example.app/", "com.example.app", "com.example.app"],
  ["https://host\\evil.test/", "host", "host"],
  ["x", null, null],
  ["", null, null],
];

onBothEngines(
  "dictionaries: rows are written as the database writes them",
  async (t, db) => {
    const database = await db.open();
    await t.step("rows, and their digests", async () => {
      const rows = TEXTS.flatMap((text) => [[text, null, true], [null, text, false]] as const);
      for (const [one, two, three] of rows) {
        const [told] = await database.query<{ text: string; digest: string }>(
          `SELECT r.text, encode(substr(sha256(convert_to(r.text, 'UTF8')), 1, 16), 'hex') AS digest
        FROM (SELECT ROW($1::text, $2::text, $3::bool)::text AS text) AS r`,
          [one, two, three],
        );
        assert.equal(rowText([one, two, three]), told!.text);
        assert.equal(digestOf(told!.text), told!.digest);
      }
    });
  },
);

Deno.test("hosts of addresses, and those of somebody else", () => {
  for (const [address, host, other] of ADDRESSES) {
    assert.equal(hostOfAddress(address), host, address);
    assert.equal(foreignHost(address, "www.host.test"), other, address);
  }
  assert.equal(foreignHost("https://host.test/", null), "host.test");
  assert.equal(foreignHost("https://bücher.test/", "www.xn--bcher-kva.test"), null);
});

Deno.test("dictionaries: what is kept of a project is bounded", async () => {
  const database = fakeSql({ query: () => Promise.resolve([]) });
  const kept = new Dictionaries(null);
  await kept.open(database, 1);
  const resolve = (paths: readonly string[]) => {
    const rows = paths.map((path) => newRow({ name: "page_view", path, in_session: false }));
    return kept.resolve(database, 1, columnsOf(rows));
  };
  // Three reserved terms and a context.
  const count = KNOWN_TEXTS_MAX - 4;
  const length = Math.floor(KNOWN_CHARACTERS_MAX / count) - 1;
  await resolve(Array.from({ length: count }, (_, i) => String(i).padStart(length, "/")));
  assert.ok(!kept.isFull);
  await resolve(["one more"]);
  assert.ok(kept.isFull);
  const long = new Dictionaries(null);
  await long.open(database, 1);
  const row = newRow({ name: "page_view", path: "a".repeat(KNOWN_CHARACTERS_MAX) });
  await long.resolve(database, 1, columnsOf([row]));
  assert.ok(long.isFull);
});

Deno.test("local days: all of them are told right, however many are kept", () => {
  const days = new LocalDays("Asia/Kathmandu");
  for (let day = 0; day <= KNOWN_DAYS_MAX + 1; day++) {
    // 05:45 ahead, 05:30 before 1986.
    assert.equal(days.dayAt(day * DAY_MS), day);
    assert.equal(days.dayAt((day + 1) * DAY_MS - 3_600_000), day + 1);
  }
});

onBothEngines("known projects: as many as there may be, and as they stand now", async (_t, db) => {
  const database = await openWithProjects(db);
  const projects = new KnownProjects();
  const project = {
    site_host: null,
    known_host: null,
    rules_version: null,
    timezone: "UTC",
    known_timezone: null,
    recount_timezone: null,
    recounted_to: null,
    links_version: 1,
  };
  const known = await projects.get(database, 1, project);
  assert.equal(await projects.get(database, 1, project), known);
  const moved = await projects.get(database, 1, { ...project, timezone: "Asia/Tokyo" });
  assert.equal(moved, known);
  assert.equal(moved.days.timezone, "Asia/Tokyo");
  const linked = { ...project, links_version: 2 };
  const relinked = await projects.get(database, 1, linked);
  assert.notEqual(relinked, known);
  assert.notEqual(await projects.get(database, 1, { ...linked, site_host: "x.test" }), relinked);
  // As many as leave room, the largest of which count as an eighth of it.
  const [few, many] = [new KnownProjects(8 * 1_500), new KnownProjects()];
  const places = Array.from({ length: 20 }, (_, place) => place % 2 + 1 + 2 * place);
  for (const known of [few, many]) {
    const first = new Map<number, KnownProject>();
    for (const place of places) first.set(place, await known.get(database, place, project));
    const kept = [];
    for (const place of places.toReversed()) {
      if (await known.get(database, place, project) === first.get(place)) kept.push(place);
    }
    assert.equal(kept.length, known === few ? 11 : places.length);
  }
});
