import assert from "node:assert/strict";
import fc from "fast-check";
import { MemberScanner } from "../../src/store/json_members.ts";

/** The members of a text's object between `start` and `end`; null: it is none. */
function membersOf(text: string, start = 0, end = text.length): [string, string][] | null {
  const scanner = new MemberScanner(text);
  if (!scanner.open(start, end)) return null;
  const members: [string, string][] = [];
  while (scanner.next()) {
    members.push([
      text.slice(scanner.keyFrom, scanner.keyTo),
      text.slice(scanner.from, scanner.to),
    ]);
  }
  return scanner.isDone ? members : null;
}

const OBJECT = fc.dictionary(
  fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('"', "\\", '\\"', "{", "a:b", ",", "")),
  fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('"}', "\\", '\\\\"', "[,", "]}")),
  { maxKeys: 4 },
);

Deno.test("JSON members: of any object, wherever it lies in the text, with spaces as PostgreSQL writes them", () => {
  fc.assert(
    fc.property(OBJECT, fc.string(), fc.string(), fc.boolean(), (object, a, b, isSpaced) => {
      const written = Object.entries(object).map(([key, value]) =>
        [JSON.stringify(key), JSON.stringify(value)] as [string, string]
      );
      const [colon, comma] = isSpaced ? [": ", ", "] : [":", ","];
      const json = `{${written.map(([key, value]) => `${key}${colon}${value}`).join(comma)}}`;
      assert.deepEqual(membersOf(`${a}${json}${b}`, a.length, a.length + json.length), written);
    }),
  );
});

Deno.test("JSON members: what is no object, or cut short, has none", () => {
  const texts = ["", "null", "[1]", '"{}"', "{", '{"a"}', '{"a":', '{"a":1', '{"a":"b', '{"a":{}'];
  for (const text of [...texts, "{a:1}", '{"a":1}x', '{"a":"b\\"}', "of words"]) {
    assert.equal(membersOf(text), null, text);
  }
});
