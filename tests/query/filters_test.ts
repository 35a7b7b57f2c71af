import assert from "node:assert/strict";
import { Problem } from "../../src/problem.ts";
import { readEventMatch, readField, readFilters, readJson } from "../../src/query/filters.ts";
import { EventMatch } from "../../src/query/filters.ts";

const filters = (value: unknown) =>
  readFilters(
    new URLSearchParams({ filters: typeof value === "string" ? value : JSON.stringify(value) }),
  );

function assertRefused(read: () => unknown, field: string, message?: RegExp): void {
  assert.throws(read, (error) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, "invalid_parameter");
    const [part] = error.options.errors ?? [];
    assert.equal(part?.field, field);
    if (message !== undefined) assert.match(part?.message ?? "", message);
    return true;
  });
}

Deno.test("filters: none, and each as it was given", () => {
  assert.deepEqual(readFilters(new URLSearchParams()), []);
  assert.deepEqual(filters(""), []);
  assert.deepEqual(filters(" [ ] "), []);
  const given = [
    { field: "path", op: "is", values: ["/a", "/b"] },
    { field: "properties.a.b c", op: "gte", values: [5, "7.5"] },
    { field: "entryPath", op: "matches", values: ["^/blog/\\d+$"] },
    { field: "userId", op: "exists", values: [] },
    { field: "properties.paid", op: "is_not", values: [true] },
  ];
  assert.deepEqual(filters(given), given);
  assert.deepEqual(filters([{ field: "title", op: "not_exists" }]), [
    { field: "title", op: "not_exists", values: [] },
  ]);
});

Deno.test("filters: a wrong one is refused with the parameter's name and its place in it", () => {
  const is = (members: object) => [{ field: "path", op: "is", values: ["/"], ...members }];
  const cases: [unknown, RegExp][] = [
    ["nonsense", /Use JSON/],
    ["{}", /list of filters/],
    ["null", /list of filters/],
    [is({ field: "pth" }), /^\[0\]\.field: Use one of name, path/],
    [is({ field: "properties." }), /^\[0\]\.field/],
    [is({ field: `properties.${"k".repeat(201)}` }), /^\[0\]\.field: .*key of 1 to 200 characters/],
    [is({ field: "properties.\0" }), /^\[0\]\.field/],
    [is({ field: "__proto__" }), /^\[0\]\.field/],
    [is({ field: undefined }), /^\[0\]\.field/],
    [is({ op: "equals" }), /^\[0\]\.op: Use one of is,/],
    [is({ value: "/" }), /^\[0\]: /],
    [is({ values: "/" }), /^\[0\]\.values: Use a list/],
    [is({ values: [] }), /^\[0\]\.values: Give at least one/],
    [is({ values: [null] }), /^\[0\]\.values\[0\]/],
    [is({ values: ["a", ["b"]] }), /^\[0\]\.values\[1\]/],
    [is({ values: ["\0"] }), /^\[0\]\.values\[0\]: .*NUL/],
    ['[{"field":"path","op":"is","values":["\\ud800"]}]', /^\[0\]\.values\[0\]/],
    [is({ values: ["a".repeat(2049)] }), /^\[0\]\.values\[0\]: .*2048/],
    [is({ values: Array(101).fill("a") }), /^\[0\]\.values: .*100/],
    [is({ op: "exists" }), /^\[0\]\.values: exists takes no values/],
    [is({ op: "gt", values: [5] }), /^\[0\]\.op: gt compares numbers/],
    [is({ op: "gt", field: "properties.n" }), /^\[0\]\.values\[0\]: gt takes numbers/],
    [is({ op: "lt", field: "properties.n", values: ["1e999"] }), /takes numbers/],
    [is({ op: "matches", values: ["ok", "(a"] }), /^\[0\]\.values\[1\]: A group is not closed/],
    [is({ op: "matches", values: ["(".repeat(10)] }), /^\[0\]\.values\[0\]: .*at most 9 deep/],
    [is({ op: "matches", values: ["(a{100}){5}"] }), /^\[0\]\.values\[0\]: .*more than 500/],
    [Array(21).fill(is({})[0]), /at most 20/],
    [`${"[".repeat(5_000)}${"]".repeat(5_000)}`, /Nest at most/],
    [" ".repeat(70_000), /characters of JSON/],
  ];
  for (const [value, message] of cases) {
    assertRefused(() => filters(value), "filters", message);
  }
});

Deno.test("fields: those of filters, in a parameter of any name", () => {
  const by = (value: string) => readField(new URLSearchParams({ by: value }), "by");
  assert.equal(readField(new URLSearchParams(), "by"), null);
  assert.equal(by(""), null);
  assert.equal(by("entryPath"), "entryPath");
  assert.equal(by("properties.plan"), "properties.plan");
  for (const wrong of ["channels", "properties", "properties.", "toString"]) {
    assertRefused(() => by(wrong), "by", /Use one of/);
  }
});

Deno.test("event matches: a bare name, or JSON with filters", () => {
  const match = (start: string) => readEventMatch(new URLSearchParams({ start }), "start");
  assert.equal(readEventMatch(new URLSearchParams(), "start"), null);
  assert.deepEqual(match("sign up"), { name: "sign up", filters: [] });
  assert.deepEqual(match('"{odd}"'), { name: "{odd}", filters: [] });
  for (const name of ["{beta} signup", "[GA4] purchase", "{GA4", " {x} y"]) {
    assert.deepEqual(match(name), { name, filters: [] });
  }
  const path = { field: "path", op: "is", values: ["/"] };
  assert.deepEqual(match(JSON.stringify({ name: "page_view", filters: [path], label: "Home" })), {
    name: "page_view",
    filters: [path],
    label: "Home",
  });
  assert.deepEqual(match('{"name":null}'), { name: null, filters: [] });
  const wrong = (members: object) => JSON.stringify({ name: "a", ...members });
  for (const broken of ["{", '{"name":"a"', "{name: 'a'}", '{"name":"a"}}', '"a', " { } x"]) {
    assertRefused(() => match(broken), "start", /Use JSON/);
  }
  assertRefused(() => match("a".repeat(201)), "start", /name of 1 to 200 characters/);
  assertRefused(() => match("a\0"), "start");
  assertRefused(() => match(wrong({ name: undefined })), "start", /^name: /);
  assertRefused(() => match(wrong({ filter: [] })), "start", /filter/);
  assertRefused(
    () => match(wrong({ filters: [{ ...path, op: "was" }] })),
    "start",
    /^filters\[0\]\.op: Use one of/,
  );
  // A parsed match can be parsed again, as saved definitions are.
  const saved = EventMatch.parse({ name: "a", filters: [path] });
  assert.deepEqual(EventMatch.parse(JSON.parse(JSON.stringify(saved))), saved);
});

Deno.test("JSON parameters: the error of a list of matches says which one is wrong", () => {
  const query = new URLSearchParams({ event: '["a",{"name":"b","filters":[{"field":"x"}]}]' });
  assertRefused(
    () => readJson(query, "event", EventMatch.array()),
    "event",
    /^\[1\]\.filters\[0\]\.field: Use one of/,
  );
});
