import assert from "node:assert/strict";
import { counted, decimal, duration, setLocale } from "../../src/dashboard/number_format.ts";

Deno.test("numbers: with as many decimals as were asked for, more where these tell too little", () => {
  setLocale("en-US");
  const told = [0, 1234.567, 0.015, 0.999, 0.004, -0.00012, 0.000000001].map((each) =>
    decimal(each, 2)
  );
  assert.deepEqual(told, ["0", "1,234.57", "0.015", "1", "0.004", "-0.00012", "0.000000001"]);
  assert.equal(decimal(0.06), "0.06");
  assert.equal(decimal(12.34), "12.3");
});

Deno.test("numbers: of one there is one, and many are grouped as the reader does", () => {
  setLocale("de-DE");
  const told = [0, 1, 1234].map((count) => counted(count, "visit"));
  assert.deepEqual(told, ["0 visits", "1 visit", "1.234 visits"]);
  assert.equal(counted(2, "person", "people"), "2 people");
});

Deno.test("numbers: a duration is rounded once, to the unit that is shown last", () => {
  const shown = [9.96, 89.5, 3_629.7, 1_214_992, 86_399].map((seconds) => duration(seconds));
  assert.deepEqual(shown, ["10s", "1m 30s", "1h 00m", "14d 1h", "1d 0h"]);
});
