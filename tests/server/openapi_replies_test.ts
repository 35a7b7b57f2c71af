import assert from "node:assert/strict";
import { ActorConditionSchema } from "../../src/query/actor_condition.ts";
import { schemaOf } from "../../src/server/openapi_replies.ts";

/** The schema of `did` in conditions, as the OpenAPI document has it. */
function didOf(io: "input" | "output"): Record<string, unknown> {
  const { $defs } = schemaOf(ActorConditionSchema, io) as {
    $defs: { ActorCondition: { properties: { did: Record<string, unknown> } } };
  };
  return $defs.ActorCondition.properties.did;
}

Deno.test("schemaOf: `did` of a condition is an object, an event's name or a page in requests", () => {
  assert.deepEqual(didOf("input"), {
    anyOf: [
      { $ref: "#/$defs/ConditionMatch" },
      { type: "string", minLength: 1, maxLength: 200 },
      {
        type: "object",
        properties: { path: { type: "string", minLength: 1, maxLength: 2048 } },
        required: ["path"],
        additionalProperties: false,
      },
    ],
  });
});

Deno.test("schemaOf: `did` of a condition is an object in replies", () => {
  assert.deepEqual(didOf("output"), { $ref: "#/$defs/ConditionMatch" });
});
