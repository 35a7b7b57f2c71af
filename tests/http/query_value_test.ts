import assert from "node:assert/strict";
import { queryValue } from "../../src/http/query_value.ts";
import { API_KEY_LENGTH_MAX } from "../../src/limits.ts";

const key = (query: string) => queryValue(new URL(`http://footfall.test/${query}`), "key");

Deno.test("queryValue: the first value of that name, decoded; null: none, or an empty one", () => {
  assert.equal(key("?key=pk_1"), "pk_1");
  assert.equal(key("?a=key%3D2&key=a%20b+c%C3%BC&key=3#key=4"), "a b c\u00FC");
  for (const query of ["", "?key=", "?key", "?monkey=1", "?a=1#&key=2"]) {
    assert.equal(key(query), null, query);
  }
});

Deno.test("queryValue: only the beginning of a long value is decoded", () => {
  const value = key(`?key=${"a".repeat(1_000_000)}`) ?? "";
  assert.ok(value.length > API_KEY_LENGTH_MAX && value.length < 10_000);
});
