import assert from "node:assert/strict";
import { decimal, setLocale } from "../../src/dashboard/number_format.ts";

Deno.test("numbers: with as many decimals as were asked for, more where it would be told as 0", () => {
  setLocale("en-US");
  const told = [0, 1234.567, 0.005, 0.004, -0.00012, 0.000000001].map((each) => decimal(each, 2));
  assert.deepEqual(told, ["0", "1,234.57", "0.01", "0.004", "-0.00012", "0.000000001"]);
  assert.equal(decimal(0.04), "0.04");
  assert.equal(decimal(0.06), "0.1");
});
