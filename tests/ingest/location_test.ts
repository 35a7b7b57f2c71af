import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { cleanPath, splitUrl } from "../../src/ingest/location.ts";
import { LOCATION_LENGTH_MAX } from "../../src/limits.ts";

Deno.test("splitUrl: splits addresses", () => {
  const cases: [string, string | null, string | null, string | null, boolean][] = [
    ["https://shop.example/a/b?x=1#top", "shop.example", "/a/b", "?x=1#top", true],
    ["https://shop.example/", "shop.example", "/", null, true],
    ["https://shop.example", "shop.example", "/", null, false],
    ["https://shop.example/?", "shop.example", "/", "?", true],
    ["https://shop.example/#/route?x", "shop.example", "/", "#/route?x", true],
    ["http://shop.example/a", "shop.example", "/a", null, false],
    ["https://Shop.Example/a", "shop.example", "/a", null, false],
    ["https://shop.example:8443/a", "shop.example", "/a", null, false],
    ["https://user:word@shop.example/a", "shop.example", "/a", null, false],
    ["https://shop.example/a%2Fb%20c", "shop.example", "/a%2Fb%20c", null, true],
    ["https://bücher.example/é", "xn--bcher-kva.example", "/%C3%A9", null, false],
    ["https://[2001:DB8::1]/a", "[2001:db8::1]", "/a", null, false],
    ["/a?b", null, "/a", "?b", false],
    ["/", null, "/", null, false],
    ["//shop.example/a", "shop.example", "/a", null, false],
    ["/\\shop.example/a", "shop.example", "/a", null, false],
    ["app://Host/screen?x", "host", "/screen", "?x", false],
    ["app://host", "host", null, null, false],
    ["file:///C:/page.html", null, "/C:/page.html", null, false],
    ["mailto:a@b.example?subject=x", null, null, null, false],
    ["about:blank", null, null, null, false],
    ["data:text/html,x?y#z", null, null, null, false],
    ["blob:https://shop.example/1", null, null, null, false],
    ["javascript:alert(1)", null, null, null, false],
    ["pricing?utm_source=x", null, null, "?utm_source=x", false],
    ["https://", null, null, null, false],
    ["https://a b/c?d", null, null, "?d", false],
    ["", null, null, null, false],
  ];
  for (const [url, host, path, rest, recomposable] of cases) {
    deepStrictEqual(splitUrl(url), { host, path, rest, recomposable }, url);
  }
});

Deno.test("splitUrl: never throws, stays bounded, and recomposes what it says it can", () => {
  const piece = fc.constantFrom("https://", "http:", "/", "//", "\\", "?", "#", "@", ":", "%", "[");
  const url = fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 12 }).map((a) =>
      a.join("")
    ),
  );
  fc.assert(fc.property(url, (text) => {
    const { host, path, rest, recomposable } = splitUrl(text);
    if (recomposable) strictEqual(`https://${host}${path}${rest ?? ""}`, text);
    ok(rest === null || text.endsWith(rest));
    ok(!/[?#]/.test(path ?? ""));
  }));
});

Deno.test("splitUrl: a plain address is split as URL does it", () => {
  const part = fc.constantFrom(
    ...[
      "a",
      "shop",
      "xn--",
      "xn--a",
      "-",
      "1",
      "0x1",
      "B",
      "ü",
      "_",
      "~",
      "%2e",
      "%41",
      " ",
      "\t",
      "\n",
    ],
    ...[".", "..", "/", "//", "/.", "/..", "?", "#", "@", ":", ":80", ":443", "\\", ".com", ".c1"],
  );
  const text = fc.array(part, { maxLength: 7 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, (host, path) => {
      const url = `https://${host}.example/${path}`;
      const parsed = URL.parse(url);
      const found = splitUrl(url);
      strictEqual(found.host, parsed?.hostname ?? null, url);
      strictEqual(found.path, parsed?.pathname ?? null, url);
      const rest = url.slice(url.search(/[?#]|$/)) || null;
      strictEqual(found.rest, rest, url);
      strictEqual(
        found.recomposable,
        parsed !== null && `https://${parsed.hostname}${parsed.pathname}${rest ?? ""}` === url,
        url,
      );
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("splitUrl: a path that encoding makes longer than the limit is not kept", () => {
  const fits = `/${"a".repeat(LOCATION_LENGTH_MAX - 1)}`;
  strictEqual(splitUrl(fits).path, fits);
  const { host, path } = splitUrl(`https://shop.example/${"語".repeat(1000)}`);
  deepStrictEqual([host, path], ["shop.example", null]);
});

Deno.test("cleanPath: keeps the path as sent, without query and fragment", () => {
  strictEqual(cleanPath("/a%20b/é"), "/a%20b/é");
  strictEqual(cleanPath("/a?b#c"), "/a");
  strictEqual(cleanPath("/a#c?b"), "/a");
  strictEqual(cleanPath("?b"), null);
  strictEqual(cleanPath(""), null);
});
