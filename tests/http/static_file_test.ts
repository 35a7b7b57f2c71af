import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { COPIED_BYTES_MAX } from "../../src/http/reply_body.ts";
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

Deno.test("static files: names of encodings have no case", () => {
  const encodingFor = (accepted: string) =>
    replyTo({ "Accept-Encoding": accepted }).headers.get("content-encoding");
  assert.equal(encodingFor("GZIP"), "gzip");
  assert.equal(encodingFor("GZip;Q=0.5"), "gzip");
  assert.equal(encodingFor("GZIP;Q=0, br"), null);
});

Deno.test("static files: replies share the bytes of a large file, and copy those of a small one", async () => {
  const handedOver = async (bytes: number, accepted: string) => {
    // Random letters: gzipped, it stays above half of its length.
    const letters = crypto.getRandomValues(new Uint8Array(bytes / 2)).toHex();
    const made = await staticFile(letters);
    const own = accepted === "gzip" ? made.gzipped : made.plain;
    const headers = { "Accept-Encoding": accepted };
    const reply = staticReply(made, new Request("http://footfall.test/", { headers }), {});
    const { value } = await reply.body!.getReader().read();
    assert.deepEqual(value, own);
    return value === own;
  };
  assert.equal(await handedOver(COPIED_BYTES_MAX, "identity"), false);
  assert.equal(await handedOver(COPIED_BYTES_MAX + 2, "identity"), true);
  assert.equal(await handedOver(COPIED_BYTES_MAX, "gzip"), false);
  assert.equal(await handedOver(3 * COPIED_BYTES_MAX, "gzip"), true);
});
