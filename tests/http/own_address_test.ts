import assert from "node:assert/strict";
import { parseTrustedProxies, type TrustedProxies } from "../../src/http/client_address.ts";
import { createOwnAddress, originOf } from "../../src/http/own_address.ts";

function trusting(text: string): TrustedProxies {
  const parsed = parseTrustedProxies(text);
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
}

const NO_PROXIES = trusting("");

function asking(url: string, headers: Record<string, string> = {}): Request {
  return new Request(url, { headers });
}

Deno.test("own address: the requested address in normal form", () => {
  const own = createOwnAddress({ publicUrl: null, basePath: "/stats", trustedProxies: NO_PROXIES });
  assert.deepEqual(own(asking("http://Example.com:80/x"), null), {
    url: "http://example.com/stats",
    isHttps: false,
  });
  // The target of a real request is a path; Host holds the name.
  assert.equal(
    own(asking("http://0.0.0.0:8000/x", { Host: "localhost:8000" }), null).url,
    "http://localhost:8000/stats",
  );
});

Deno.test("own address: headers of trusted proxies count, and PUBLIC_URL always does", () => {
  const headers = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "stats.example.com" };
  const request = asking("http://127.0.0.1:8000/x", headers);
  const of = (trusted: string, publicUrl: string | null = null) =>
    createOwnAddress({ publicUrl, basePath: "", trustedProxies: trusting(trusted) });
  const known = { url: "https://stats.example.com", isHttps: true };
  assert.deepEqual(of("10.0.0.0/8")(request, "10.1.2.3"), known);
  assert.deepEqual(of("1")(request, "192.0.2.1"), known);
  for (const peer of ["192.0.2.1", null]) {
    assert.equal(of("10.0.0.0/8")(request, peer).url, "http://127.0.0.1:8000");
  }
  assert.equal(of("")(request, "10.1.2.3").isHttps, false);
  assert.deepEqual(of("", "https://a.example")(request, null), {
    url: "https://a.example",
    isHttps: true,
  });
  const strange = asking("http://a.example/x", {
    "X-Forwarded-Proto": "gopher",
    "X-Forwarded-Host": "b.example/evil?",
  });
  assert.equal(of("1")(strange, "192.0.2.1").url, "http://a.example");
});

Deno.test("origin: Sec-Fetch-Site decides first, then the page's host and port", () => {
  const plain = { url: "http://stats.example", isHttps: false };
  const secure = { url: "https://stats.example", isHttps: true };
  const judge = (headers: Record<string, string>, own = plain, url = "http://stats.example/v1") =>
    originOf(asking(url, headers), own);
  assert.equal(judge({}), "unknown");
  assert.equal(judge({ Origin: "http://stats.example" }), "own");
  // A proxy that is not configured may have turned https into http.
  assert.equal(judge({ Origin: "https://stats.example" }), "own");
  assert.equal(judge({ Origin: "http://stats.example" }, secure), "foreign");
  assert.equal(judge({ Origin: "https://stats.example" }, secure), "own");
  // Its own name is accepted too where PUBLIC_URL differs: the operator opens the server directly.
  const local = "http://localhost:8000/v1";
  assert.equal(judge({ Origin: "http://localhost:8000" }, plain, local), "own");
  for (
    const foreign of [
      "null",
      "http://evil.example",
      "http://stats.example:8080",
      "http://stats.example.evil",
      "file://stats.example",
      "nonsense",
    ]
  ) assert.equal(judge({ Origin: foreign }), "foreign", foreign);
  const sees = (site: string) => judge({ Origin: "http://evil.example", "Sec-Fetch-Site": site });
  assert.equal(sees("same-origin"), "own");
  for (const site of ["same-site", "cross-site", "none"]) assert.equal(sees(site), "foreign");
});
