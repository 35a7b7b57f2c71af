import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { readReply } from "../../src/http/read_reply.ts";

const MOMENT = { asOf: new Date(0), pending: 0 };
const ROWS = { rows: Array.from({ length: 100 }, (_, i) => ({ path: `/${i}`, visitors: i })) };
const OF_PAGE = { "Accept-Encoding": "gzip, deflate, br", "Sec-Fetch-Site": "same-origin" };

const reply = (headers: HeadersInit, result: typeof ROWS) =>
  readReply(new Request("http://127.0.0.1/v1/pages", { headers }), MOMENT, {}, result);

Deno.test("replies to reads: a page's are gzipped, with the tag that they have plain", async () => {
  const [packed, plain] = await Promise.all([reply(OF_PAGE, ROWS), reply({}, ROWS)]);
  const bytes = await packed.bytes();
  const text = await plain.text();
  assert.equal(gunzipSync(bytes).toString(), text);
  assert.ok(bytes.length < text.length / 4);
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  assert.equal(packed.headers.get("content-length"), String(bytes.length));
  for (const name of ["etag", "vary", "cache-control", "content-type"]) {
    assert.equal(packed.headers.get(name), plain.headers.get(name), name);
  }
  const known = await reply({ ...OF_PAGE, "If-None-Match": packed.headers.get("etag")! }, ROWS);
  assert.deepEqual([known.status, known.headers.get("content-encoding")], [304, null]);
});

Deno.test("replies to reads: a program's, short ones and those to who takes no gzip are plain", async () => {
  const { "Accept-Encoding": accepted, ...ofPage } = OF_PAGE;
  const cases: [HeadersInit, typeof ROWS][] = [
    [{ "Accept-Encoding": accepted }, ROWS],
    [OF_PAGE, { rows: [] }],
    [ofPage, ROWS],
  ];
  for (const [headers, result] of cases) {
    const { headers: sent, body } = await reply(headers, result);
    assert.equal(sent.get("content-encoding"), null);
    assert.equal(sent.get("vary"), "Authorization, Accept, Accept-Encoding");
    assert.deepEqual((await new Response(body).json()).rows, result.rows);
  }
});
