import assert from "node:assert/strict";
import { z } from "zod";
import { readEvent, RejectedEvent, suspicionOf } from "../src/ingest/event_schema.ts";
import { MatchOrPage, readEventMatch } from "../src/query/filters.ts";
import { Problem } from "../src/problem.ts";
import { issuesOf, WITH_ADVICE } from "../src/schema_mistakes.ts";

/** A schema, a value that it refuses, and what is said. */
const REFUSED: readonly (readonly [z.ZodType, unknown, string])[] = [
  [z.string(), undefined, "Give text."],
  [z.string(), 5, "Use text."],
  [z.number(), "5", "Use a number."],
  [z.int(), 1.5, "Use a whole number."],
  [z.boolean(), null, "Use true or false."],
  [z.array(z.string()), {}, "Use a list."],
  [z.object({}), [], "Use an object."],
  [z.record(z.string(), z.string()), "x", "Use an object."],
  [z.string().max(3), "four", "Use at most 3 characters."],
  [z.string().min(1), "", "Use at least 1 character."],
  [z.string().min(1000), "a", "Use at least 1,000 characters."],
  [z.array(z.int()).max(1), [1, 2], "Use at most 1 value."],
  [z.array(z.int()).min(2), [1], "Use at least 2 values."],
  [z.number().max(3), 4, "Use at most 3."],
  [z.number().gt(3), 3, "Use more than 3."],
  [z.number().lt(3), 3, "Use less than 3."],
  [z.number().multipleOf(5), 3, "Use a multiple of 5."],
  [z.enum(["a", "b"]), "c", "Use one of a, b."],
  [z.literal("a"), "c", "Use a."],
  [z.strictObject({}), { a: 1, b: 2 }, "Remove a, b: there is no such member here."],
  [z.string().regex(/^a$/), "b", "Use text that matches /^a$/."],
  [z.iso.datetime(), "b", "Use a time such as 2030-01-01T00:00:00Z."],
  [z.uuid(), "b", "Use a UUID."],
  [z.union([z.string(), z.number()]), true, "Use one of the documented values."],
  [z.string().refine(() => false), "a", "Use one of the documented values."],
  [z.string("Give a name."), 5, "Give a name."],
];

Deno.test("a schema's refusal says what to send, unless the schema has a message of its own", () => {
  for (const [schema, value, wanted] of REFUSED) {
    const { error } = schema.safeParse(value, WITH_ADVICE);
    assert.equal(error?.issues[0]?.message, wanted);
  }
});

Deno.test("a value of another type is refused for its type alone, not for its length too", () => {
  const Bounded = z.object({
    list: z.array(z.int()).min(1).max(2),
    text: z.string().min(1).max(2),
  });
  for (const [list, text] of [["", []], ["abc", [1, 2, 3]]]) {
    const { error } = Bounded.safeParse({ list, text }, WITH_ADVICE);
    const told = issuesOf(error!).map(({ path, message }) => `${path}: ${message}`);
    assert.deepEqual(told, ["list: Use a list.", "text: Use text."]);
  }
  const { error } = Bounded.safeParse({ list: [1, 2, 3], text: "" }, WITH_ADVICE);
  const told = issuesOf(error!).map(({ path, code }) => `${path}: ${code}`);
  assert.deepEqual(told, ["list: too_big", "text: too_small"]);
});

/** What is told of a parameter. */
function refusal(value: unknown, schema?: typeof MatchOrPage): string | undefined {
  try {
    readEventMatch(new URLSearchParams({ start: JSON.stringify(value) }), "start", schema);
  } catch (error) {
    assert.ok(error instanceof Problem);
    return error.options.errors?.[0]?.message;
  }
}

Deno.test("the refusal of an invalid match says what to send", () => {
  assert.equal(refusal({}), "name: Give the name of an event.");
  assert.equal(refusal({ name: 5 }), "name: Give the name of an event.");
  const unknown = "Remove colour: there is no such member here.";
  assert.equal(refusal({ name: "a", colour: "red" }), unknown);
  assert.equal(refusal({ path: "/", colour: "red" }, MatchOrPage), unknown);
  assert.equal(refusal({ path: 5 }, MatchOrPage), "path: Use text.");
});

Deno.test("the refusal of an event's member of another type says what to send", () => {
  const eventId = crypto.randomUUID();
  for (
    const [members, field, message] of [
      [{ name: 5 }, "name", "Use text."],
      [{ context: 5 }, "context", "Use an object."],
      [{ context: { viewport: [] } }, "context.viewport", "Use an object."],
      [{ properties: 5 }, "properties", "Use an object."],
      [{ title: false }, "title", "Use text."],
    ] as const
  ) {
    assert.throws(
      () => readEvent({ eventId, ...members }, suspicionOf("")),
      (error) => {
        assert.ok(error instanceof RejectedEvent);
        assert.deepEqual([error.code, error.field, error.message], [
          "invalid_type",
          field,
          message,
        ]);
        return true;
      },
    );
  }
});
