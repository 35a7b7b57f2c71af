import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { createAgentReader } from "../../src/ingest/user_agent.ts";
import { USER_AGENT_LENGTH_MAX } from "../../src/limits.ts";

const KHTML = "AppleWebKit/537.36 (KHTML, like Gecko)";
const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)";

Deno.test("createAgentReader: names what sent the request", () => {
  const read = createAgentReader();
  const cases: [string, string | null, string | null, string | null, boolean][] = [
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/126.0.0.0 Safari/537.36`,
      "Chrome",
      "Windows",
      "desktop",
      false,
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0`,
      "Edge",
      "Windows",
      "desktop",
      false,
    ],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/17.5 Safari/605.1.15`,
      "Safari",
      "macOS",
      "desktop",
      false,
    ],
    [
      "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
      "Firefox",
      "Linux",
      "desktop",
      false,
    ],
    [
      `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${KHTML} Chrome/126.0.0.0 Safari/537.36`,
      "Chrome",
      "Chrome OS",
      "desktop",
      false,
    ],
    [
      `${IPHONE} ${WEBKIT} Version/17.5 Mobile/15E148 Safari/604.1`,
      "Safari",
      "iOS",
      "mobile",
      false,
    ],
    [
      `${IPHONE} ${WEBKIT} CriOS/126.0 Mobile/15E148 Safari/604.1`,
      "Chrome",
      "iOS",
      "mobile",
      false,
    ],
    [
      `Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) ${WEBKIT} Version/16.6 Mobile/15E148 Safari/604.1`,
      "Safari",
      "iOS",
      "tablet",
      false,
    ],
    [
      `Mozilla/5.0 (Linux; Android 14; SM-S918B) ${KHTML} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36`,
      "Samsung Internet",
      "Android",
      "mobile",
      false,
    ],
    [
      `Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) ${KHTML} Version/6.0 TV Safari/537.36`,
      "Tizen",
      "Tizen",
      "other",
      false,
    ],
    [
      "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
      "Googlebot",
      null,
      "other",
      true,
    ],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${KHTML} HeadlessChrome/126.0.0.0 Safari/537.36`,
      "Chrome",
      "Linux",
      "desktop",
      true,
    ],
    ["curl/8.0", null, null, null, true],
    ["MyOwnApp/1.0 (secret@customer.example) x", null, null, null, true],
  ];
  for (const [userAgent, browser, os, device, bot] of cases) {
    deepStrictEqual(read(userAgent), { browser, os, device, bot }, userAgent);
    deepStrictEqual(read(userAgent), { browser, os, device, bot }, userAgent);
  }
});

Deno.test("createAgentReader: no user agent gives no verdict", () => {
  const read = createAgentReader();
  const none = { browser: null, os: null, device: null, bot: null };
  deepStrictEqual(read(null), none);
  deepStrictEqual(read(""), none);
});

Deno.test("createAgentReader: never throws, and never returns text of the client", () => {
  const read = createAgentReader();
  const word = fc.constantFrom(
    "Chrome/",
    "Mozilla/5.0 (",
    "Version/",
    "constructor",
    "__proto__",
    "1.",
  );
  const text = fc.array(fc.oneof(word, fc.string({ unit: "binary" })), { maxLength: 20 })
    .map((words) => words.join(" "));
  fc.assert(fc.property(text, (userAgent) => {
    const { browser, os } = read(`zqx${userAgent}`);
    ok(!`${browser}${os}`.includes("zqx"));
  }));
});

Deno.test("createAgentReader: the longest hostile user agents take hardly any time", () => {
  const pieces = ["a", " ", "/", "(", "1", ".", "Mozilla/5.0 (", "Version/1 ", "Chrome/1.", "a/ "];
  const hostile = [
    ...pieces,
    "Android ",
    "like android ",
    "iphone os 1_",
    "bot",
    "-",
    "Windows NT ",
  ]
    .map((piece) => piece.repeat(USER_AGENT_LENGTH_MAX).slice(0, USER_AGENT_LENGTH_MAX));
  createAgentReader()("warms up the patterns");
  const startMs = performance.now();
  for (const userAgent of hostile) {
    strictEqual(typeof createAgentReader()(userAgent).bot, "boolean");
  }
  // About 0.1 ms each: a thousand times that is for slow machines. Backtracking takes far more.
  ok((performance.now() - startMs) / hostile.length < 100);
});
