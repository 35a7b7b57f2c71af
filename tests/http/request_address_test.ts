import assert from "node:assert/strict";
import fc from "fast-check";
import { requestAddress } from "../../src/http/request_address.ts";

/** Joins a request target and `Host` as Deno's listener does. */
const joined = (target: string, host: string) => `http://${host}${target}`;

Deno.test("requestAddress: hosts as clients send them", () => {
  const hosts = [
    ...["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]", "[::1]:8000", "a_b.example", ""],
    ...["xn--bcher-kva.example", "EXAMPLE.com.", "example.com:", "a".repeat(60)],
  ];
  for (const host of hosts) {
    const url = requestAddress("/metrics?a=b", host);
    assert.deepEqual([url?.pathname, url?.search], ["/metrics", "?a=b"], host);
  }
  assert.equal(requestAddress("/metrics", null)?.pathname, "/metrics");
});

Deno.test("requestAddress: an invalid host has no address, whichever listener received it", () => {
  const hosts = [
    ...["a/metrics?", "a/", "a?", "a#", "a\\b", "[", "]", "[::1", "::1", "a b", "a@b", "a:b", "ä"],
    ...["a:99999", "a:123456", "a%2fb", "a%zz", "<a>", "a\t", "a".repeat(301), "http://a", "[a]"],
  ];
  for (const host of hosts) assert.equal(requestAddress(joined("/public", host), host), null, host);
});

Deno.test("requestAddress: the path is the target's, whatever the host is", () => {
  const path = fc.array(fc.constantFrom("a", "metrics", "%2F", ":", "@", "-"), { minLength: 1 });
  const host = fc.oneof(
    fc.string({ unit: "binary-ascii" }),
    fc.array(fc.constantFrom("a", "/metrics", "?", "#", "@", ":", "8", "[", "]", "\\", "%", "."))
      .map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(path, host, (segments, host) => {
      const target = `/${segments.join("/")}`;
      for (
        const url of [requestAddress(target, host), requestAddress(joined(target, host), host)]
      ) {
        // An empty host is not tested further, because listeners replace it with their own name.
        if (url !== null && host.replace(/:\d*$/, "") !== "") assert.equal(url.pathname, target);
      }
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("requestAddress: a whole URL as target counts with its own path", () => {
  for (const target of ["http://other.example/metrics?a", "https://other.example:8443/metrics"]) {
    assert.equal(requestAddress(target, "a")?.pathname, "/metrics");
  }
  for (const target of ["http://a:99999/metrics", "http://[/metrics", "http://", "*", "a:80/"]) {
    assert.notEqual(requestAddress(target, "a")?.pathname, "/metrics", target);
  }
  assert.equal(requestAddress("//other.example/metrics", "a")?.pathname, "//other.example/metrics");
});
