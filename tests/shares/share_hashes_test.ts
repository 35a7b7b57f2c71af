import assert from "node:assert/strict";
import { hashingFor } from "../../src/shares/share_hashes.ts";
import { SHARE_HASHES_PER_PROJECT_MAX } from "../../src/shares/share_limits.ts";

Deno.test("shares: one project's passwords use only a part of the places for hashing", async () => {
  const gate = Promise.withResolvers<void>();
  const under = Array.from(
    { length: SHARE_HASHES_PER_PROJECT_MAX },
    () => hashingFor(1, () => gate.promise),
  );
  await assert.rejects(hashingFor(1, () => Promise.resolve()), { code: "overloaded" });
  assert.equal(await hashingFor(2, () => Promise.resolve("another's")), "another's");
  gate.resolve();
  await Promise.all(under);
  await assert.rejects(hashingFor(1, () => Promise.reject(new Error("it fails"))), /it fails/);
  assert.equal(await hashingFor(1, () => Promise.resolve("again")), "again");
});
