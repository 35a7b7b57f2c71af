import assert from "node:assert/strict";
import { NAME_LENGTH_MAX } from "../src/limits.ts";
import { EventName, PlainText, StorableText, Title } from "../src/text_schemas.ts";

const takes = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

Deno.test("texts: what people write has no control character, whether C0 or C1", () => {
  for (const text of ["", "Shop", "Größe ñ 你好 👍", "a\u00a0b", "\u2028"]) {
    assert.ok(takes(PlainText, text), JSON.stringify(text));
  }
  for (const text of ["a\nb", "\t", "\0", "\u007f", "a\u0085b", "\u009b31m", "\ud800"]) {
    assert.ok(!takes(PlainText, text), JSON.stringify(text));
    assert.ok(!takes(Title, `Shop${text}too`), JSON.stringify(text));
  }
});

Deno.test("texts: a title is trimmed, and neither empty nor too long", () => {
  assert.equal(Title.parse("  Shop \u00a0\t\n"), "Shop");
  assert.ok(takes(Title, "x".repeat(NAME_LENGTH_MAX)));
  for (const title of ["", "  ", "x".repeat(NAME_LENGTH_MAX + 1), null, 1]) {
    assert.ok(!takes(Title, title), JSON.stringify(title));
  }
});

Deno.test("texts: events may have whatever PostgreSQL can store", () => {
  for (const text of ["a\nb", "\u0085", "\u007f"]) {
    assert.ok(takes(StorableText, text) && takes(EventName, text), JSON.stringify(text));
  }
  for (const text of ["a\0b", "\udc00"]) {
    assert.ok(!takes(StorableText, text) && !takes(EventName, text), JSON.stringify(text));
  }
  assert.ok(takes(StorableText, "") && !takes(EventName, ""));
});
