import assert from "node:assert/strict";
import fc from "fast-check";
import { assertProblem, newEvent, sharedApp, type TestProject } from "../support/app.ts";

const server = sharedApp();
let project: TestProject;
Deno.test.beforeAll(async () => void (project = await server.project()));

type Bytes = Uint8Array<ArrayBuffer>;
const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

async function compressed(bytes: Bytes, format: CompressionFormat): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const joined = (...parts: readonly Uint8Array[]) =>
  new Uint8Array(parts.flatMap((part) => [...part]));
const batch = () => utf8(JSON.stringify({ events: [newEvent()] }));
const post = (body: BodyInit | null, headers: Record<string, string> = {}) =>
  server.postRaw(project, body, { headers });

Deno.test("body: gzip, deflate and raw deflate are inflated", async () => {
  for (
    const [encoding, format] of [
      ["gzip", "gzip"],
      ["GZip", "gzip"],
      ["deflate", "deflate"],
      ["deflate", "deflate-raw"],
      ["identity", null],
    ] as const
  ) {
    const bytes = format === null ? batch() : await compressed(batch(), format);
    const { status, body } = await post(bytes, { "Content-Encoding": encoding });
    assert.deepEqual([status, body.accepted], [200, 1], `${encoding} ${format}`);
  }
});

Deno.test("body: what does not inflate is invalid_encoding", async () => {
  const whole = await compressed(batch(), "gzip");
  const damaged = whole.slice();
  damaged[damaged.length - 6]! ^= 0xff;
  const bad = [batch(), whole.slice(0, -9), damaged, new Uint8Array(), whole.slice(1)];
  const rests = [whole.slice(0, -1), whole.slice(0, 5), damaged, batch(), new Uint8Array(1)];
  for (const bytes of [...bad, ...rests.map((rest) => joined(whole, rest))]) {
    assertProblem(await post(bytes, { "Content-Encoding": "gzip" }), 400, "invalid_encoding");
  }
  const headers = { "Content-Encoding": "deflate" };
  assertProblem(await post(batch(), headers), 400, "invalid_encoding");
  for (const format of ["deflate", "deflate-raw"] as const) {
    const some = await compressed(batch(), format);
    for (const bytes of [joined(some, some), some.slice(0, -1)]) {
      assertProblem(await post(bytes, headers), 400, "invalid_encoding");
    }
  }
});

Deno.test("body: all members of a gzip body count, wherever one ends", async () => {
  const bytes = batch();
  for (const cut of [0, 1, bytes.length >> 1, bytes.length]) {
    const members = [bytes.slice(0, cut), new Uint8Array(), bytes.slice(cut)];
    const zipped = await Promise.all(members.map((member) => compressed(member, "gzip")));
    const { status, body } = await post(joined(...zipped), { "Content-Encoding": "gzip" });
    assert.deepEqual([status, body.accepted], [200, 1], `cut at ${cut}`);
  }
});

Deno.test("body: other encodings are 415 unsupported_encoding", async () => {
  for (const encoding of ["br", "zstd", "compress", "gzip, gzip", "nonsense"]) {
    assertProblem(
      await post(batch(), { "Content-Encoding": encoding }),
      415,
      "unsupported_encoding",
    );
  }
});

Deno.test("body: JSON, plain text or no content type, with or without charset", async () => {
  const types = [
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    "APPLICATION/JSON",
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/json; profile=x",
    "application/json; profile=x; charset=utf-8",
  ];
  for (const type of types) {
    assert.equal((await post(batch(), { "Content-Type": type })).status, 200, type);
  }
  const request = new Request("http://x/", { method: "POST", body: batch() });
  assert.equal(request.headers.get("content-type"), null);
  assert.equal((await post(batch())).status, 200);
});

Deno.test("body: other content types are 415 unsupported_media_type", async () => {
  const types = [
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/html",
    "application/jsonx",
    "application/json; charset=utf-16",
    "text/plain; charset=iso-8859-1",
    "application/json; profile=x; charset=utf-16",
    "nonsense",
  ];
  for (const type of types) {
    assertProblem(await post(batch(), { "Content-Type": type }), 415, "unsupported_media_type");
  }
});

Deno.test("body: anything but a JSON document is invalid_json", async () => {
  const texts = [
    "",
    " ",
    "{",
    '{"events":[]',
    "{'events':[]}",
    '{"events":[]}x',
    "undefined",
    "NaN",
  ];
  for (const text of [...texts, '{"events":[],}', '{"events":["\u0000"]}']) {
    assertProblem(await post(utf8(text)), 400, "invalid_json");
  }
  assertProblem(await post(null), 400, "invalid_json");
});

Deno.test("body: JSON without an array of events is invalid_envelope", async () => {
  const texts = ["null", "5", '"events"', "[]", "{}", "true", '[{"events":[]}]'];
  for (const text of [...texts, '{"events":null}', '{"events":{}}', '{"events":"x"}']) {
    assertProblem(await post(utf8(text)), 400, "invalid_envelope");
  }
  assertProblem(await post(utf8('{"__proto__":{"events":[]}}')), 400, "invalid_envelope");
});

Deno.test("body: invalid UTF-8 is invalid_encoding, a byte order mark is ignored", async () => {
  for (const bad of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2]]) {
    const bytes = new Uint8Array([...utf8('{"events":[],"a":"'), ...bad, ...utf8('"}')]);
    assertProblem(await post(bytes), 400, "invalid_encoding");
  }
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, ...batch()]);
  assert.equal((await post(marked)).status, 200);
  const utf16 = new Uint8Array([0xff, 0xfe, ...new Uint8Array(new Uint16Array([123, 125]).buffer)]);
  assertProblem(await post(utf16), 400, "invalid_encoding");
});

function padded(bytes: number): Bytes {
  const text = utf8(JSON.stringify({ events: [newEvent()] }));
  const whole = new Uint8Array(bytes).fill(0x20);
  whole.set(text);
  return whole;
}

const MEBIBYTE = 1024 * 1024;

Deno.test("body: 1 MiB on the wire is accepted, one byte more is not", async () => {
  assert.equal((await post(padded(MEBIBYTE))).status, 200);
  const over = await post(padded(MEBIBYTE + 1));
  assertProblem(over, 413, "body_too_large");
  const announced = await server.postRaw(project, "{}", {
    headers: { "Content-Length": "1048577" },
  });
  assertProblem(announced, 413, "body_too_large");
});

Deno.test("body: 10 MiB inflated are accepted, one byte more is not", async () => {
  for (const format of ["gzip", "deflate"] as const) {
    const headers = { "Content-Encoding": format };
    const whole = await post(await compressed(padded(10 * MEBIBYTE), format), headers);
    assert.equal(whole.status, 200);
    const over = await post(await compressed(padded(10 * MEBIBYTE + 1), format), headers);
    assertProblem(over, 413, "body_too_large");
  }
  const [begin, rest] = [padded(10 * MEBIBYTE - 1), utf8("  ")];
  const members = await Promise.all([begin, rest].map((bytes) => compressed(bytes, "gzip")));
  const inMembers = await post(joined(...members), { "Content-Encoding": "gzip" });
  assertProblem(inMembers, 413, "body_too_large");
});

Deno.test("body: a gzip bomb stops at the limit", async () => {
  const bomb = await compressed(new Uint8Array(300 * MEBIBYTE), "gzip");
  assert.ok(bomb.length < MEBIBYTE);
  const before = Deno.memoryUsage().rss;
  const reply = await post(bomb, { "Content-Encoding": "gzip" });
  assertProblem(reply, 413, "body_too_large");
  assert.ok(Deno.memoryUsage().rss - before < 150 * MEBIBYTE);
  assert.equal((await post(batch())).status, 200);
});

Deno.test("body: its bytes are returned to the budget, whatever happens to the request", async () => {
  await Promise.all([
    post(batch()),
    post(utf8("{")),
    post(padded(MEBIBYTE + 1)),
    post(batch(), { "Content-Encoding": "gzip" }),
    post(await compressed(padded(10 * MEBIBYTE + 1), "gzip"), { "Content-Encoding": "gzip" }),
  ]);
  const { body } = await server.fetch("/metrics", {}, "127.0.0.1");
  assert.match(body, /^footfall_body_bytes_in_flight 0$/m);
});

const anything = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => new Uint8Array(bytes)),
  fc.json().map(utf8),
  fc.string({ unit: "binary", maxLength: 200 }).map(utf8),
  fc.jsonValue({ depthSize: "medium" }).map((value) => utf8(JSON.stringify({ events: value }))),
);

const field = fc.constantFrom(
  ...["eventId", "name", "event", "timestamp", "userId", "url", "path", "referrer", "title"],
  ...["properties", "context", "type", "__proto__", "extra"],
);
const oddText = fc.string({ unit: "binary", maxLength: 60 });
const oddValue = fc.oneof(
  oddText,
  fc.jsonValue(),
  fc.double(),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.constantFrom("\u0000", "\ud800", "NULL", "{}", '","', "\\", "'; DROP TABLE events; --"),
  fc.dictionary(
    fc.constantFrom("viewport", "screen", "ip", "userAgent", "locale", "width", "x", "y", "server"),
    fc.oneof(fc.jsonValue(), fc.double(), oddText),
  ),
);
const mutated = fc.array(
  fc.tuple(fc.uuid(), fc.array(fc.tuple(field, oddValue), { maxLength: 4 })).map(
    ([id, changes]) => {
      const members = changes.map(([name, value]) =>
        `${JSON.stringify(name)}:${JSON.stringify(value) ?? "null"}`
      );
      return `{${[`"eventId":"${id}"`, '"name":"click"', ...members].join(",")}}`;
    },
  ),
  { minLength: 1, maxLength: 5 },
).map((events) => utf8(`{"events":[${events.join(",")}]}`));

const headerValue = fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, ""));
const headers = fc.dictionary(
  fc.constantFrom(
    ...["Content-Type", "Content-Encoding", "Origin", "X-Forwarded-For", "Forwarded"],
    ...["User-Agent", "X-Request-Id", "Accept", "Content-Length", "X-Footfall-Peer"],
  ),
  headerValue,
  { maxKeys: 2 },
);

const CODES = new Set([200, 400, 401, 403, 413, 415]);

Deno.test("body: nothing that a client can send makes the server fail", async () => {
  const key = fc.constantFrom(project.publicKey, project.secretKey, "pk_nobody", null);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(anything, { arbitrary: mutated, weight: 3 }),
      fc.oneof({ arbitrary: fc.constant({}), weight: 3 }, headers),
      fc.oneof({ arbitrary: fc.constant(project.publicKey), weight: 3 }, key),
      async (body, sent, chosen) => {
        const reply = await server.postRaw(project, body, { headers: sent, key: chosen });
        assert.ok(CODES.has(reply.status), `${reply.status} ${JSON.stringify(reply.body)}`);
        assert.notEqual(reply.headers.get("access-control-allow-origin"), null);
        for (const one of reply.body.rejected ?? []) {
          assert.notEqual(one.code, "refused", "the checks before the database missed something");
        }
      },
    ),
    { numRuns: 800 },
  );
});
