import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { gzippedJson } from "../../src/http/gzipped_json.ts";
import { COPIED_BYTES_MAX } from "../../src/http/reply_body.ts";

const large = { names: Array.from({ length: COPIED_BYTES_MAX / 8 }, (_, i) => `Größe ${i}`) };

function requestWith(encodings: string | null): Request {
  const headers: HeadersInit = encodings === null ? {} : { "Accept-Encoding": encodings };
  return new Request("http://127.0.0.1/v1/session", { headers });
}

Deno.test("gzippedJson: a large reply is gzipped for those who take it", async () => {
  const reply = await gzippedJson(requestWith("br, gzip"), large);
  const bytes = await reply.bytes();
  assert.deepEqual(JSON.parse(gunzipSync(bytes).toString()), large);
  assert.ok(bytes.length < JSON.stringify(large).length / 2);
  const { headers } = reply;
  assert.equal(headers.get("content-encoding"), "gzip");
  assert.equal(headers.get("content-length"), String(bytes.length));
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("vary"), "Accept-Encoding");
});

Deno.test("gzippedJson: other replies are plain", async () => {
  for (
    const [encodings, body] of [[null, large], ["gzip;q=0", large], ["gzip", {
      names: [],
    }]] as const
  ) {
    const reply = await gzippedJson(requestWith(encodings), body);
    assert.equal(reply.headers.get("content-encoding"), null);
    assert.equal(reply.headers.get("cache-control"), "no-store");
    assert.equal(reply.headers.get("vary"), "Accept-Encoding");
    assert.deepEqual(await reply.json(), body);
  }
});
