import assert from "node:assert/strict";
import { readEvent } from "../../src/ingest/event_schema.ts";
import { type Arrival, enricher, type Enrichment } from "../../src/ingest/pipeline.ts";
import { CHROME, newEvent } from "../support/app.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const days: string[] = [];
const TOOLS: Enrichment = {
  readAgent: () => ({ browser: null, os: null, device: null, bot: null }),
  geo: { description: "nowhere", locate: () => null },
  hasher: {
    hash: ({ days: { salt }, ip, userAgent }) => (days.push(salt), `${salt} ${ip} ${userAgent}`),
  },
};
const VISITOR: Arrival = {
  projectId: 7,
  projectPublicId: "prj_seven",
  receivedAtMs: NOON,
  clockOffsetMs: 0,
  ip: "8.8.8.8",
  userAgent: CHROME,
  fromBackend: false,
  ipStorage: "full",
};

function rowOf(event: Record<string, unknown>, arrival: Partial<Arrival> = {}) {
  const input = readEvent(newEvent(event), { size: true, text: true });
  return enricher({ ...VISITOR, ...arrival }, TOOLS).rowOf(input);
}

Deno.test("enrich: only $interactive: false says that an event does not undo a bounce", () => {
  const passive = rowOf({ properties: { $interactive: false, a: 1 } });
  assert.equal(passive.interactive, false);
  assert.equal(passive.in_session, true);
  assert.deepEqual(JSON.parse(passive.properties ?? ""), { $interactive: false, a: 1 });
  for (const $interactive of [true, null, 0, "false", undefined]) {
    assert.equal(rowOf({ properties: { $interactive } }).interactive, null);
  }
  assert.equal(rowOf({}).interactive, null);
});

Deno.test("enrich: only $session: false, a secret key and a technical name keep an event out of sessions", () => {
  assert.equal(rowOf({ properties: { $session: false } }).in_session, false);
  assert.equal(rowOf({}, { fromBackend: true }).in_session, false);
  for (const $session of [true, null, 0, "false", undefined]) {
    assert.equal(rowOf({ properties: { $session } }).in_session, true);
  }
  assert.equal(rowOf({ name: "$identify" }).in_session, false);
  assert.equal(rowOf({ name: "a $name" }).in_session, true);
  assert.equal(rowOf({}).in_session, true);
  const kept = rowOf({ properties: { $session: false, a: 1 } });
  assert.deepEqual(JSON.parse(kept.properties ?? ""), { $session: false, a: 1 });
});

Deno.test("enrich: a click's documented properties become columns and leave the JSON", () => {
  const row = rowOf({
    name: "click",
    properties: { x: 0.5, y: 12.5, fixed: true, rage: false, dead: true, selector: "a" },
  });
  assert.deepEqual([row.pointer_x, row.pointer_y, row.selector], [0.5, 12.5, "a"]);
  assert.deepEqual([row.fixed, row.rage, row.dead, row.properties], [true, false, true, null]);
});

Deno.test("enrich: other properties are kept as they were sent, except `server`", () => {
  const text = '{"7":3,"b":[1],"__proto__":2,"toJSON":"x","x":0.5}';
  for (const name of ["page_view", "constructor", "__proto__"]) {
    const kept = (properties: unknown) => rowOf({ name, properties }).properties;
    assert.equal(kept(JSON.parse(text)), text);
    assert.equal(kept({ server: { a: 1 }, b: 1 }), '{"b":1}');
    assert.deepEqual([kept({}), kept({ server: 1 })], [null, null]);
  }
});

Deno.test("enrich: pixels are whole numbers that a screen can have", () => {
  const widths: [unknown, number | null][] = [
    [1440, 1440],
    [1440.4, 1440],
    [0, 0],
    [-1, null],
    [1_000_000, 1_000_000],
    [1_000_001, null],
    ["1440", null],
    [null, null],
  ];
  for (const [width, stored] of widths) {
    const context = { viewport: { width, height: 1 }, screen: { width, height: 1 } };
    const row = rowOf({ name: "page_view", context });
    assert.deepEqual([row.viewport_width, row.screen_width], [stored, stored], String(width));
    const scroll = rowOf({ name: "scroll", properties: { depthPx: width } });
    assert.equal(scroll.depth_px, stored);
  }
});

Deno.test("enrich: yesterday's event is hashed with yesterday's salt, an older one with today's", () => {
  days.length = 0;
  for (const hours of [0, -11, -13, -35, -37, -1000, 13]) {
    rowOf({ timestamp: NOON + hours * 3_600_000 });
  }
  assert.deepEqual(
    days.map((day) => day.slice(-2)),
    ["21", "21", "20", "20", "21", "21", "21"],
  );
});

Deno.test("enrich: the address is truncated only after hash and place are computed from it", () => {
  const seen: (string | null)[] = [];
  const tools: Enrichment = {
    ...TOOLS,
    geo: { description: "", locate: (ip) => (seen.push(ip), null) },
  };
  const input = readEvent(newEvent(), { size: false, text: false });
  for (const [ipStorage, stored] of [["truncated", "8.8.8.0"], ["none", null]] as const) {
    const row = enricher({ ...VISITOR, ipStorage }, tools).rowOf(input);
    assert.equal(row.ip, stored);
    assert.match(row.visitor_hash, / 8\.8\.8\.8 /);
  }
  assert.deepEqual(seen, ["8.8.8.8", "8.8.8.8"]);
});

Deno.test("enrich: the hashes of a request are made at once, and each row gets its own", async () => {
  const made: PromiseWithResolvers<string>[] = [];
  const tools: Enrichment = {
    ...TOOLS,
    hasher: { hash: () => made[made.push(Promise.withResolvers()) - 1]!.promise },
  };
  const enriching = enricher({ ...VISITOR, fromBackend: true }, tools);
  const rows = ["8.8.8.8", "8.8.8.8", "9.9.9.9"].map((ip) =>
    enriching.rowOf(readEvent(newEvent({ context: { ip } }), { size: false, text: false }))
  );
  assert.equal(made.length, 2);
  const complete = enriching.complete();
  made[1]!.resolve("second");
  made[0]!.resolve("first");
  await complete;
  assert.deepEqual(rows.map((row) => row.visitor_hash), ["first", "first", "second"]);
  assert.equal(enriching.complete(), null);
});

Deno.test("enrich: a failed hash fails the request, and nothing else if nobody awaits it", async () => {
  const tools: Enrichment = {
    ...TOOLS,
    hasher: { hash: () => Promise.reject(new Error("no salt")) },
  };
  const [waited, left] = [enricher(VISITOR, tools), enricher(VISITOR, tools)];
  for (const one of [waited, left]) one.rowOf(readEvent(newEvent(), { size: false, text: false }));
  await assert.rejects(async () => await waited.complete(), /no salt/);
});
