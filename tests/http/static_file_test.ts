import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { staticFile, staticReply } from "../../src/http/static_file.ts";

const TEXT = "Füße ".repeat(1_000);
const file = await staticFile(TEXT);

function replyTo(headers: Readonly<Record<string, string>>): Response {
  const request = new Request("http://footfall.test/file", { headers });
  return staticReply(file, request, { "Content-Type": "text/plain; charset=utf-8" });
}

Deno.test("static files: a file comes whole, with its length, plain or gzipped", async () => {
  const plain = replyTo({});
  assert.equal(Number(plain.headers.get("content-length")), new TextEncoder().encode(TEXT).length);
  assert.equal(plain.headers.get("content-encoding"), null);
  assert.equal(await plain.text(), TEXT);
  const gzipped = replyTo({ "Accept-Encoding": "br, gzip" });
  const bytes = await gzipped.bytes();
  assert.equal(Number(gzipped.headers.get("content-length")), bytes.length);
  assert.equal(gzipped.headers.get("content-encoding"), "gzip");
  assert.equal(new TextDecoder().decode(gunzipSync(bytes)), TEXT);
});

Deno.test("static files: replies hand over the file's own bytes, not a copy each", async () => {
  for (const [accepted, own] of [["identity", file.plain], ["gzip", file.gzipped]] as const) {
    const { value } = await replyTo({ "Accept-Encoding": accepted }).body!.getReader().read();
    assert(value === own, accepted);
  }
});
