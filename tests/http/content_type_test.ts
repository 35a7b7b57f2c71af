import assert from "node:assert/strict";
import { isContentType } from "../../src/http/content_type.ts";
import { CONTENT_TYPE_LENGTH_MAX } from "../../src/limits.ts";

const JSON_ALONE = new Set(["application/json"]);

Deno.test("content type: parameters do not matter, but the charset must be UTF-8 or ASCII", () => {
  const cases: Record<string, boolean> = {
    "application/json": true,
    " Application/JSON ": true,
    "application/json;": true,
    "application/json; profile=x": true,
    'application/json; profile="a;charset=latin1"; v=2': true,
    'application/json; profile="a\\";charset=latin1"': true,
    "application/json; charset=utf-8; profile=x": true,
    'application/json ;v=2; CHARSET = "UTF8"': true,
    "application/json;charset=us-ascii": true,
    "application/json; charset=ascii ; q": true,
    "application/json; charset=utf-16": false,
    "application/json; profile=x; charset=iso-8859-1": false,
    'application/json; profile="a"; charset="latin1"': false,
    "application/json; charset=utf-8; charset=latin1": false,
    'application/json; a="; charset=latin1': false,
    "application/jsonx": false,
    "application/json profile=x": false,
    "application/json, text/html": false,
    "text/html; profile=application/json": false,
    "": false,
  };
  for (const [header, expected] of Object.entries(cases)) {
    assert.equal(isContentType(header, JSON_ALONE), expected, header);
  }
});

Deno.test("content type: a header that is too long is not accepted", () => {
  const start = "application/json; profile=";
  const longest = start + "x".repeat(CONTENT_TYPE_LENGTH_MAX - start.length);
  assert.equal(isContentType(longest, JSON_ALONE), true);
  assert.equal(isContentType(`${longest}x`, JSON_ALONE), false);
});
