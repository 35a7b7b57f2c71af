import { match, notStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { createVisitorHasher, type Visitor } from "../../src/ingest/visitor_hash.ts";

const SALT = new Uint8Array(32).fill(7);
const VISITOR: Visitor = {
  projectPublicId: "prj_default",
  ip: "203.0.113.9",
  userAgent: "Mozilla/5.0",
  days: { salt: "2026-11-21", event: "2026-11-21" },
};

function prefixed(text: string | null): Buffer {
  const length = Buffer.alloc(4, 0xff);
  const bytes = Buffer.from(text ?? "");
  if (text !== null) length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

Deno.test("createVisitorHasher: is HMAC-SHA-256 over length-prefixed parts, 16 bytes of it", async () => {
  const text = fc.string({ unit: "grapheme", maxLength: 700 });
  const visitors = fc.record({
    projectPublicId: text,
    ip: fc.option(text),
    userAgent: fc.option(text),
    days: fc.constantFrom(VISITOR.days, { salt: "2026-11-21", event: "2026-05-05" }),
  });
  const hasher = createVisitorHasher(() => Promise.resolve(SALT));
  await fc.assert(fc.asyncProperty(visitors, async (visitor) => {
    const hash = await hasher.hash(visitor);
    const { projectPublicId, ip, userAgent, days: { salt, event } } = visitor;
    const ofOtherDay = event === salt ? [] : [event];
    const parts = [projectPublicId, ip, userAgent, ...ofOtherDay].map(prefixed);
    const expected = createHmac("sha256", SALT).update(Buffer.concat(parts)).digest("hex");
    strictEqual(hash, `\\x${expected.slice(0, 32)}`);
    strictEqual(await hasher.hash(visitor), hash);
  }));
});

Deno.test("createVisitorHasher: each part and the day make another visitor; null is not empty", async () => {
  const salts = new Map<string, Uint8Array>();
  const hasher = createVisitorHasher((day) => {
    if (!salts.has(day)) salts.set(day, crypto.getRandomValues(new Uint8Array(32)));
    return Promise.resolve(salts.get(day)!);
  });
  const others: Partial<Visitor>[] = [
    ...[{}, { projectPublicId: "prj_other" }, { ip: null }, { ip: "" }, { ip: "203.0.113.10" }],
    ...[{ userAgent: null }, { userAgent: "" }, { userAgent: "-" }, {
      days: { salt: "2026-11-20", event: "2026-11-20" },
    }],
    { days: { salt: "2026-11-21", event: "2026-11-20" } },
    { days: { salt: "2026-11-21", event: "2026-11-19" } },
    { ip: "203.0.113.9M", userAgent: "ozilla/5.0" },
    { projectPublicId: "prj_default2", ip: "03.0.113.9" },
  ];
  const hashes = await Promise.all(others.map((other) => hasher.hash({ ...VISITOR, ...other })));
  strictEqual(new Set(hashes).size, others.length);
});

Deno.test("createVisitorHasher: a visitor seen before is answered at once, without the salt", async () => {
  let asked = 0;
  const hasher = createVisitorHasher(() => {
    asked++;
    return Promise.resolve(SALT);
  });
  const batch = await Promise.all(Array.from({ length: 500 }, () => hasher.hash(VISITOR)));
  strictEqual(new Set(batch).size, 1);
  const again = hasher.hash({ ...VISITOR });
  ok(typeof again === "string");
  match(again, /^\\x[0-9a-f]{32}$/);
  strictEqual(asked, 1);
});

Deno.test("createVisitorHasher: a failure of the salts is passed on and not kept", async () => {
  let away = true;
  const hasher = createVisitorHasher(() =>
    away ? Promise.reject(new Error("database away")) : Promise.resolve(SALT)
  );
  for (const visitor of [VISITOR, VISITOR, { ...VISITOR, userAgent: "x".repeat(2048) }]) {
    await rejects(async () => await hasher.hash(visitor), /database away/);
  }
  away = false;
  match(await hasher.hash(VISITOR), /^\\x/);
});

Deno.test("createVisitorHasher: a new salt for the same day gives another hash", async () => {
  const make = (fill: number) =>
    createVisitorHasher(() => Promise.resolve(new Uint8Array(32).fill(fill)));
  notStrictEqual(await make(1).hash(VISITOR), await make(2).hash(VISITOR));
});
