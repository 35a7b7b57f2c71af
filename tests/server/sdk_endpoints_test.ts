import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { TAGS_LENGTH_MAX } from "../../src/limits.ts";
import { sharedApp } from "../support/app.ts";

const server = sharedApp();
const SCRIPT_BYTES_MAX = 5 * 1024;
const VITALS_BYTES_MAX = 3 * 1024;
/** How many bytes the functions of other products may add: PostHog's are many and have long names. */
const SHIMS_BYTES_MAX = { "/script.js": 1024, "/static/array.js": 1640 };
const TYPES = {
  "/sdk.js": /^text\/javascript; charset=utf-8$/,
  "/sdk.mjs": /^text\/javascript; charset=utf-8$/,
  "/sdk-vitals.js": /^text\/javascript; charset=utf-8$/,
  "/script.js": /^text\/javascript; charset=utf-8$/,
  "/js/script.tagged-events.outbound-links.js": /^text\/javascript; charset=utf-8$/,
  "/static/array.js": /^text\/javascript; charset=utf-8$/,
  "/array/phc_any/array.js": /^text\/javascript; charset=utf-8$/,
  "/sdk.d.ts": /^application\/typescript; charset=utf-8$/,
};

/** What is sent to whoever takes these encodings. */
async function sentTo(accepted: string, path: string): Promise<Response> {
  const headers = { "Accept-Encoding": accepted };
  return await server.app.fetch(new Request(`http://footfall.test${path}`, { headers }), null);
}

async function gzippedBytes(path: string): Promise<number> {
  const reply = await sentTo("gzip", path);
  assert.equal(reply.headers.get("content-encoding"), "gzip");
  return (await reply.bytes()).length;
}

Deno.test("sdk: the script is at most 5 KB, gzipped", async () => {
  const bytes = await gzippedBytes("/sdk.js");
  assert.ok(bytes <= SCRIPT_BYTES_MAX, `${bytes} bytes`);
});

Deno.test("sdk: the additional size of the scripts for pages of other products is bounded, gzipped", async () => {
  const own = await gzippedBytes("/sdk.js");
  for (const [path, bytesMax] of Object.entries(SHIMS_BYTES_MAX)) {
    const more = await gzippedBytes(path) - own;
    assert.ok(more > 0 && more <= bytesMax, `${path}: ${more} bytes more`);
  }
});

Deno.test("sdk: the script of web vitals is at most 3 KB, gzipped", async () => {
  const bytes = await gzippedBytes("/sdk-vitals.js");
  assert.ok(bytes <= VITALS_BYTES_MAX, `${bytes} bytes`);
});

Deno.test("sdk: Plausible's script has many names, and other names are not found", async () => {
  const { body } = await server.fetch("/script.js");
  for (
    const name of [
      "script.js",
      "script.hash.js",
      "script.file-downloads.manual.js",
      "plausible.js",
      "pa-0aB_-9.js",
    ]
  ) {
    const reply = await server.fetch(`/js/${name}`);
    assert.equal(reply.status, 200, name);
    assert.equal(reply.body, body);
  }
  for (
    const name of ["other.js", "script", "script.js.map", "script.A.js", "scriptxjs"]
  ) {
    assert.equal((await server.fetch(`/js/${name}`)).status, 404, name);
  }
});

Deno.test("sdk: PostHog's script has many names, and other names are not found", async () => {
  const { body } = await server.fetch("/static/array.js");
  assert.notEqual(body, (await server.fetch("/script.js")).body);
  for (const name of ["array.full.js", "array.no-external.js", "array.full.es5.js"]) {
    assert.equal((await server.fetch(`/static/${name}`)).body, body, name);
  }
  for (
    const name of ["recorder.js", "array", "array.js.map", "array.A.js", "arrayxjs", "x/array.js"]
  ) {
    assert.equal((await server.fetch(`/static/${name}`)).status, 404, name);
  }
});

Deno.test("sdk: clients that accept gzip get it, under the same tag", async () => {
  const plain = await server.fetch("/sdk.js");
  for (const accepted of ["gzip, br", "deflate, gzip;q=0.5"]) {
    const reply = await sentTo(accepted, "/sdk.js");
    assert.equal(reply.headers.get("content-encoding"), "gzip");
    assert.equal(reply.headers.get("vary"), "Accept-Encoding");
    assert.equal(reply.headers.get("etag"), plain.headers.get("etag"));
    assert.equal(gunzipSync(await reply.bytes()).toString(), plain.body);
  }
  const refused = await server.fetch("/sdk.js", { headers: { "Accept-Encoding": "gzip;q=0, br" } });
  assert.equal(refused.headers.get("content-encoding"), null);
  assert.equal(refused.body, plain.body);
});

Deno.test("sdk: each file has its type, and every origin may load it", async () => {
  for (const [path, type] of Object.entries(TYPES)) {
    const headers = { Origin: "https://shop.example" };
    const { status, headers: sent, body } = await server.fetch(path, { headers });
    assert.equal(status, 200);
    assert.match(sent.get("content-type") ?? "", type);
    assert.equal(sent.get("access-control-allow-origin"), "*");
    assert.equal(sent.get("cross-origin-resource-policy"), "cross-origin");
    assert.match(sent.get("cache-control") ?? "", /^public, max-age=\d+$/);
    assert.ok(body.length > 1_000);
  }
});

Deno.test("sdk: a copy that is still current is not sent again", async () => {
  for (const path of Object.keys(TYPES)) {
    const etag = (await server.fetch(path)).headers.get("etag");
    assert.ok(etag);
    for (const known of [etag, etag.slice("W/".length), `"other", ${etag}`, "*"]) {
      const again = await server.fetch(path, { headers: { "If-None-Match": known } });
      assert.equal(again.status, 304, known);
      assert.equal(again.body, "");
      assert.equal(again.headers.get("etag"), etag);
    }
    const within = etag.padStart(TAGS_LENGTH_MAX, ",");
    for (const [header, status] of [[within, 304], [`,${within}`, 200]] as const) {
      const long = await server.fetch(path, { headers: { "If-None-Match": header } });
      assert.equal(long.status, status);
    }
    const changed = await server.fetch(path, { headers: { "If-None-Match": '"other"' } });
    assert.equal(changed.status, 200);
  }
});

Deno.test("sdk: HEAD works, POST does not", async () => {
  assert.equal((await server.fetch("/sdk.js", { method: "HEAD" })).status, 200);
  assert.equal((await server.fetch("/sdk.js", { method: "POST" })).status, 405);
});
