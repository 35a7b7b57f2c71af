import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { foreignEventId, UUID } from "../src/event_id.ts";

Deno.test("foreign ids: a UUID of any version stays what it is, in lower case", () => {
  for (
    const id of [
      "0191F3A4-7B5C-7000-8000-0123456789AB",
      "c9bf9e57-1685-4c89-bafb-ff5af830be8a",
      "00000000-0000-0000-0000-000000000000",
    ]
  ) assert.equal(foreignEventId("segment", "prj_a", id), id.toLowerCase());
});

Deno.test("foreign ids: another one is hashed whole, to a UUID of version 8", () => {
  const theirs = "ajs-next-1700000000000-c9bf9e57-1685-4c89-bafb-ff5af830be8a";
  const made = foreignEventId("segment", "prj_a", theirs);
  assert.match(made, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const bytes = createHash("sha256")
    .update("segment").update(Uint8Array.of(0)).update("prj_a").update(Uint8Array.of(0))
    .update(theirs).digest().subarray(0, 16);
  bytes[6] = bytes[6]! & 0x0f | 0x80;
  bytes[8] = bytes[8]! & 0x3f | 0x80;
  assert.equal(made.replaceAll("-", ""), new Uint8Array(bytes).toHex());
});

Deno.test("foreign ids: protocol, project and every character of the id count", () => {
  const suffix = "c9bf9e57-1685-4c89-bafb-ff5af830be8a";
  const made = [
    foreignEventId("segment", "prj_a", `node-next-1-${suffix}`),
    foreignEventId("segment", "prj_a", `node-next-2-${suffix}`),
    foreignEventId("rudder", "prj_a", `node-next-1-${suffix}`),
    foreignEventId("segment", "prj_b", `node-next-1-${suffix}`),
    foreignEventId("segment", "prj_a", ""),
    foreignEventId("segment", "prj_a", "ä"),
    foreignEventId("segment", "prj_a", "x".repeat(100_000)),
  ];
  assert.equal(new Set(made).size, made.length);
  for (const id of made) assert.match(id, UUID);
});
