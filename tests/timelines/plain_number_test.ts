import assert from "node:assert/strict";
import fc from "fast-check";
import { plainNumber } from "../../src/timelines/plain_number.ts";

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

function read(text: string): number {
  const bytes = new TextEncoder().encode(`x${text}y`);
  return plainNumber(bytes, 1, bytes.length - 1);
}

Deno.test("plain numbers: what JavaScript writes with up to 15 digits, 6 of them decimals", () => {
  const digits = fc.integer({ min: -(10 ** 15 - 1), max: 10 ** 15 - 1 });
  fc.assert(fc.property(digits, fc.nat(6), (whole, decimals) => {
    const text = String(whole / 10 ** decimals);
    if (!/^-?\d+(\.\d{1,6})?$/.test(text)) return;
    assert.ok(Object.is(read(text), Number(text)), text);
  }));
  for (const text of ["0", "7", "-1.5", "0.000001", "999999999999999", "100"]) {
    assert.ok(Object.is(read(text), Number(text)), text);
  }
});

Deno.test("plain numbers: JavaScript writes what was read as it was written", () => {
  const part = fc.constantFrom("0", "1", "9", ".", "-", "e5", "+", '"', " ", "n", "00", "12345678");
  fc.assert(fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
    const text = parts.join("");
    const number = read(text);
    if (JSON_NUMBER.test(text) && !Number.isNaN(number)) assert.equal(String(number), text);
    if (!/^[-\d.]*$/.test(text)) assert.ok(Number.isNaN(number), text);
  }));
  const others = [
    "",
    "-",
    "1.50",
    "-0",
    "1e3",
    "1000000000000000",
    "0.0000001",
    '"1"',
    "null",
  ];
  for (const text of others) assert.ok(Number.isNaN(read(text)), text);
});
