import assert from "node:assert/strict";
import { UsageMistake } from "../../src/cli/command.ts";
import { durationSeconds } from "../../src/cli/duration.ts";

Deno.test("durationSeconds: a number and one of s, m, h, d", () => {
  const texts = ["90s", "15m", "12h", "30d"];
  assert.deepEqual(texts.map((text) => durationSeconds(text, "ttl")), [90, 900, 43_200, 2_592_000]);
});

Deno.test("durationSeconds: anything else is a usage mistake that shows how", () => {
  for (const text of ["", "15", "0d", "-1d", "1.5h", "1w", "1d2h", " 1d", "99999999999d"]) {
    assert.throws(
      () => durationSeconds(text, "ttl"),
      (error) => error instanceof UsageMistake && /--ttl .*15m/.test(error.message),
      text,
    );
  }
});

Deno.test("durationSeconds: a hundred years and no longer, so that every end has a date", () => {
  assert.equal(durationSeconds("36500d", "ttl"), 36_500 * 86_400);
  for (const text of ["36501d", "9999999999d"]) {
    assert.throws(() => durationSeconds(text, "ttl"), UsageMistake, text);
  }
});
