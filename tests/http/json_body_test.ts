import assert from "node:assert/strict";
import { z } from "zod";
import { readJson } from "../../src/http/json_body.ts";
import { Problem, type ProblemPart } from "../../src/problem.ts";

const Optional = z.strictObject({ size: z.int().optional() });
const Nested = z.strictObject({
  shop: z.strictObject({ name: z.string(), tags: z.array(z.string()) }),
  size: z.int("Give a whole number."),
});

function sending(body: BodyInit | null, type: string | null = "application/json"): Request {
  const request = new Request("http://footfall.test/", { method: "POST", body });
  if (type === null) request.headers.delete("Content-Type");
  else request.headers.set("Content-Type", type);
  return request;
}

async function refusal(request: Request, schema: z.ZodType = Optional): Promise<Problem> {
  const error = await readJson(request, schema).then(() => null, (error) => error);
  assert.ok(error instanceof Problem, String(error));
  return error;
}

Deno.test("readJson: JSON by its type, charset or not, in any case", async () => {
  for (
    const type of ["application/json", "Application/JSON; charset=utf-8", "application/json ;x=y"]
  ) {
    assert.deepEqual(await readJson(sending('{"size":3}', type), Optional), { size: 3 });
  }
});

Deno.test("readJson: no body is an empty object, if the schema takes one", async () => {
  assert.deepEqual(await readJson(sending(null, null), Optional), {});
  assert.deepEqual(await readJson(sending("", "application/json"), Optional), {});
  assert.equal((await refusal(sending(null, null), Nested)).code, "invalid_body");
});

Deno.test("readJson: another type is 415, even if the body is JSON", async () => {
  for (
    const type of [
      null,
      "text/plain",
      "application/jsonx",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
    ]
  ) {
    assert.equal((await refusal(sending("{}", type))).code, "unsupported_media_type", `${type}`);
  }
});

Deno.test("readJson: malformed, oversized and inflating bodies are refused", async () => {
  for (const text of ["{", "nonsense", "{'a':1}", "{} {}"]) {
    const problem = await refusal(sending(text));
    assert.equal(problem.code, "invalid_json");
    assert.ok(!problem.detail.includes("nonsense"), "a body is not echoed");
  }
  assert.equal(
    (await refusal(sending(new Uint8Array([0x22, 0xff, 0x22])))).code,
    "invalid_encoding",
  );
  assert.equal((await refusal(sending(" ".repeat(65_537)))).code, "body_too_large");
  const zeros = new Blob([new Uint8Array(1_000_000)]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  const bomb = sending(await new Response(zeros).arrayBuffer());
  bomb.headers.set("Content-Encoding", "gzip");
  assert.equal((await refusal(bomb)).code, "body_too_large");
  for (const text of ["[]", "null", "7", '"text"', "[".repeat(30_000) + "]".repeat(30_000)]) {
    assert.equal((await refusal(sending(text))).code, "invalid_body");
  }
});

Deno.test("readJson: every mistake at once, each with its place", async () => {
  const body = { shop: { tags: ["a", 7], colour: "red" }, size: 1.5, more: 1, "a.b": 2 };
  const problem = await refusal(sending(JSON.stringify(body)), Nested);
  const told = problem.options.errors ?? [];
  const places = told.map(({ field, code }: ProblemPart) => `${field} ${code}`).sort();
  assert.deepEqual(places, [
    "a.b unknown_member",
    "more unknown_member",
    "shop.colour unknown_member",
    "shop.name required",
    "shop.tags.1 invalid_type",
    "size invalid_type",
  ]);
  assert.equal(told.find(({ field }) => field === "size")?.message, "Give a whole number.");
});

Deno.test("readJson: a member of another type is one mistake", async () => {
  const Bounded = z.strictObject({ tags: z.array(z.string()).max(2, "Use at most 2 tags.") });
  const { options } = await refusal(sending('{"tags":"abc"}'), Bounded);
  assert.deepEqual(options.errors, [
    { field: "tags", code: "invalid_type", message: "Use a list." },
  ]);
});

Deno.test("readJson: the list of mistakes is bounded", async () => {
  const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`m${i}`, i]));
  const problem = await refusal(sending(JSON.stringify(many)));
  assert.equal(problem.options.errors?.length, 100);
  const long = await refusal(sending(JSON.stringify({ ["x".repeat(5000)]: 1 })));
  assert.ok(JSON.stringify(long.options.errors).length < 400);
});
