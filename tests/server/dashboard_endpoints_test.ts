import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { sharedApp, TestApp } from "../support/app.ts";

const server = sharedApp();
/** The most bytes of the page and all files that it names, gzipped. */
const DASHBOARD_BYTES_MAX = 120 * 1024;
/** The most bytes of a part that is loaded on demand. */
const PART_BYTES_MAX = 30 * 1024;

/** That of the files that the server sends. */
const GZIP_LEVEL = 9;

/** The addresses of the files that a page names. */
function filesOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!)
    .filter((address) => !address.startsWith("data:"));
}

Deno.test("dashboard: the page runs the server's own files only, and nothing inline", async () => {
  const { status, headers, body } = await server.fetch("/");
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(body, /<style|style=|<script(?![^>]* src=)|\son\w+=/);
  assert.match(filesOf(body).join(), /\/app\.css.*\/app\.js/);
});

Deno.test("dashboard: a file at the page's address never changes; under its bare name it is revalidated", async () => {
  const types = { "app.js": /^text\/javascript/, "app.css": /^text\/css/ };
  for (const address of filesOf((await server.fetch("/")).body)) {
    const { status, headers } = await server.fetch(address);
    assert.equal(status, 200);
    const name = new URL(address, "http://footfall.test").pathname.split("/").at(-1)!;
    assert.match(headers.get("content-type")!, types[name as keyof typeof types] ?? /javascript/);
    assert.match(headers.get("cache-control")!, /immutable/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    if (!(name in types)) continue;
    const bare = await server.fetch(`/assets/${name}?v=older`);
    assert.equal(bare.headers.get("cache-control"), "no-cache");
    const again = await server.fetch(`/assets/${name}`, {
      headers: { "If-None-Match": headers.get("etag")! },
    });
    assert.equal(again.status, 304);
  }
  assert.equal((await server.fetch("/assets/app.ts")).status, 404);
});

/** The parts of the program that a script imports when they are needed. */
function partsOnDemand(script: string): string[] {
  return [...script.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, name]) => name!);
}

Deno.test("dashboard: parts that are loaded on demand are there, at addresses that never change", async () => {
  const { body } = await server.fetch("/");
  const scripts = filesOf(body).filter((address) => /\.js(?:\?|$)/.test(address));
  const texts = await Promise.all(scripts.map(async (path) => (await server.fetch(path)).body));
  const parts = texts.flatMap(partsOnDemand);
  assert.ok(parts.some((name) => name.startsWith("settings-")), parts.join());
  for (const name of parts) {
    const { status, headers, body: text } = await server.fetch(`/assets/${name}`);
    assert.equal(status, 200, name);
    assert.match(headers.get("content-type")!, /^text\/javascript/);
    assert.match(headers.get("cache-control")!, /immutable/);
    const bytes = gzipSync(text, { level: GZIP_LEVEL }).length;
    assert.ok(bytes <= PART_BYTES_MAX, `${name}: ${bytes} bytes`);
    for (const [, needed] of text.matchAll(/from\s*"\.\/([^"]+)"/g)) {
      assert.equal((await server.fetch(`/assets/${needed}`)).status, 200, needed);
    }
  }
  for (const name of ["settings-00000000.js", "stamp", "..%2Fsdk%2Fsdk.js", "app.ts"]) {
    assert.equal((await server.fetch(`/assets/${name}`)).status, 404, name);
  }
});

Deno.test("dashboard: what a page loads at first is at most 120 KB, gzipped", async () => {
  const { body } = await server.fetch("/");
  let bytes = gzipSync(body).length;
  for (const address of filesOf(body)) {
    bytes += gzipSync((await server.fetch(address)).body, { level: GZIP_LEVEL }).length;
  }
  assert.ok(bytes <= DASHBOARD_BYTES_MAX, `${bytes} bytes`);
});

Deno.test("dashboard: under a base path every address keeps it", async () => {
  const below = await new TestApp({ BASE_PATH: "/analytics" }).start();
  try {
    const { body } = await below.fetch("/analytics/");
    assert.match(body, /<meta name="footfall-base" content="\/analytics">/);
    for (const address of filesOf(body)) {
      assert.ok(address.startsWith("/analytics/assets/"), address);
      assert.equal((await below.fetch(address)).status, 200);
    }
  } finally {
    await below.stop();
  }
});
