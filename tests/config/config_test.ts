import assert from "node:assert/strict";
import { ProjectChange } from "../../src/auth/projects.ts";
import { isGivenKey } from "../../src/auth/stored_keys.ts";
import { ConfigMistakes, readConfig } from "../../src/config/config.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { CONFIG_VARIABLES } from "../../src/config/config_variables.ts";
import denoJson from "../../deno.json" with { type: "json" };

function mistakes(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigMistakes, String(error));
    for (const { variable, message } of error.mistakes) {
      assert.ok(message.length > 5);
      assert.ok(error.message.includes(`${variable}: ${message}`));
    }
    return error.mistakes.map(({ variable }) => variable);
  }
  return [];
}

Deno.test("readConfig: nothing set is a server on its embedded database", () => {
  const config = readConfig({});
  assert.deepEqual(
    [config.port, config.host, config.basePath, config.dataDir, config.databaseUrl],
    [8000, "0.0.0.0", "", "./data", null],
  );
  assert.deepEqual(config.trustedProxies, { kind: "none" });
  assert.deepEqual([config.ipStorage, config.corsAllowedOrigins], ["full", ["*"]]);
  assert.deepEqual([config.rateLimitEventsPerSecond, config.readTimeoutMs], [null, 15_000]);
  assert.equal(config.readCacheBytes, 320 * 2 ** 20);
  assert.deepEqual(
    ["16", "65536"].map((mib) => readConfig({ READ_CACHE_MIB: mib }).readCacheBytes),
    [2 ** 24, 2 ** 36],
  );
  assert.deepEqual([config.captureSchedule, config.logLevel], ["0 3 * * *", "info"]);
  assert.equal(config.defaultProject.id, "prj_default");
  assert.deepEqual(readConfig({ PORT: "", JWT_SECRET: "  ", IP_STORAGE: "" }), config);
  assert.throws(() => Object.assign(config, { port: 1 }), TypeError);
});

Deno.test("readConfig: logs are pretty on a terminal, else JSON, unless LOG_FORMAT is set", () => {
  assert.equal(readConfig({}, true).logFormat, "pretty");
  assert.equal(readConfig({}, false).logFormat, "json");
  assert.equal(readConfig({ LOG_FORMAT: "json" }, true).logFormat, "json");
});

Deno.test("readConfig: all mistakes are reported at once, by their variables", () => {
  assert.deepEqual(
    mistakes({
      PORT: "http",
      BASE_PATH: "/a?b",
      DATABASE_URL: "mysql://x/y",
      TRUSTED_PROXIES: "everyone",
      IP_STORAGE: "some",
      LOG_LEVEL: "loud",
      METRICS_TOKEN: "two words",
    }).toSorted(),
    [
      "BASE_PATH",
      "DATABASE_URL",
      "IP_STORAGE",
      "LOG_LEVEL",
      "METRICS_TOKEN",
      "PORT",
      "TRUSTED_PROXIES",
    ],
  );
});

Deno.test("readConfig: values that cannot be right are mistakes", () => {
  const wrong: [string, string[]][] = [
    ["PORT", ["-1", "65536", "1.5", "0x50", "8000x"]],
    ["BASE_PATH", ["/a b", "/a//b", "https://x/y", "/ä", "/a/../b", "/..", "/a/.", "./a"]],
    ["HOST", ["not a host", "a/b", "1.2.3", "300.1.1.1", "127.0.0.1:80", "[::1]", "::g", "a..b"]],
    ["HOST", [
      "-a.example",
      "a-.example",
      "x.1",
      `${"x".repeat(64)}.example`,
      "x.".repeat(127) + "x",
    ]],
    ["CHROME_PATH", ["/nope", import.meta.dirname!]],
    ["DATABASE_URL", ["localhost:5432", "http://x/y", "postgres://x/y?sslrootcert=/nope"]],
    ["DATABASE_URL", ["postgres://a:b%c@x/y", "postgres://a:b#c@x/y", "postgres://x:99999/y"]],
    ["JWT_SECRET", ["short"]],
    ["JWT_JWKS_URL", ["ftp://x/y", "keys.json"]],
    ["TRUSTED_PROXIES", ["10.0.0.0/33", "-1", "101", "1,2", "10.0.0.1,nonsense"]],
    ["IP_STORAGE", ["yes"]],
    ["CORS_ALLOWED_ORIGINS", ["example.com", "https://a.example/path", "https://a.example,x"]],
    ["RATE_LIMIT_EVENTS_PER_SECOND", ["0", "-5", "ten", "1.5"]],
    ["CAPTURE_SCHEDULE", [
      ...["daily", "0 3 * *", "99 3 * * *", "0 3 * * mo"],
      ...["2026-01-01T03:00:00", "9999-01-01T03:00:00"],
      ...["0 0 30 2 *", "0 0 31 4,6,9,11 *"],
    ]],
    ["READ_TIMEOUT_MS", ["0", "99", "x"]],
    ["READ_CACHE_MIB", ["15", "65537", "1.5"]],
    ["LOG_FORMAT", ["xml"]],
    ["CHROME_NO_SANDBOX", ["maybe"]],
    ["DEFAULT_PROJECT_ID", ["default", "prj_", "prj_a b", `prj_${"x".repeat(61)}`]],
    ["DEFAULT_PROJECT_NAME", ["x".repeat(201), "a\u0000b", "a\nb"]],
    ["DEFAULT_SITE_URL", [
      ...["shop.example", "ftp://shop.example", "https://user:pw@shop.example"],
      ...["https:\\\\shop.example", "https://shop.example/a\tb"],
    ]],
    ["DEFAULT_TIMEZONE", ["Mars/Base", "+02:00", "PST", "IST"]],
    ["DEFAULT_API_KEY", ["sk_secretsecret", "short", "has a blank", "x".repeat(201)]],
    ["DEFAULT_API_KEY", ["site:x12345678", "site:shop.example"]],
  ];
  for (const [variable, values] of wrong) {
    for (const value of values) {
      assert.deepEqual(mistakes({ [variable]: value }), [variable], `${variable}=${value}`);
    }
  }
});

Deno.test("readConfig: values are read as they are meant", () => {
  const paths = ["analytics", "/analytics/", "//analytics//"].map((BASE_PATH) =>
    readConfig({ BASE_PATH }).basePath
  );
  assert.deepEqual(paths, ["/analytics", "/analytics", "/analytics"]);
  assert.equal(readConfig({ BASE_PATH: "/" }).basePath, "");
  for (const BASE_PATH of ["/a.b", "/...", "/.well-known/..x"]) {
    assert.equal(readConfig({ BASE_PATH }).basePath, BASE_PATH);
  }
  const names = [
    "localhost",
    "footfall",
    "my_app-1",
    "Stats.Example.com",
    "a_b.internal.",
    `${"x".repeat(63)}.example`,
  ];
  for (const HOST of [...names, "127.0.0.1", "::", "fe80::1", "::ffff:1.2.3.4"]) {
    assert.equal(readConfig({ HOST }).host, HOST);
  }
  const CHROME_PATH = import.meta.filename!;
  assert.equal(readConfig({ CHROME_PATH }).chromePath, CHROME_PATH);
  assert.equal(readConfig({ PORT: "0" }).port, 0);
  assert.equal(readConfig({ IP_STORAGE: "Truncated" }).ipStorage, "truncated");
  assert.deepEqual(readConfig({ TRUSTED_PROXIES: "2" }).trustedProxies, { kind: "hops", count: 2 });
  const origins = readConfig({ CORS_ALLOWED_ORIGINS: "https://a.example https://*.b.example,*" });
  assert.deepEqual(origins.corsAllowedOrigins, ["https://a.example", "https://*.b.example", "*"]);
  for (const [value, flag] of [["1", true], ["true", true], ["0", false], ["false", false]]) {
    const config = readConfig({ CHROME_NO_SANDBOX: String(value) });
    assert.equal(config.chromeNoSandbox, flag);
  }
});

Deno.test("readConfig: the default project's site and time zone are such as requests may give", () => {
  const given: [string, keyof typeof ProjectChange.shape, string[]][] = [
    ["DEFAULT_SITE_URL", "siteUrl", [
      ...["https://shop.example", "http://127.0.0.1:3000/a?b#c", "HTTPS://Shop.Example."],
      ...["https:\\\\shop.example", "https://shop.example\\@x", "https://shop.example/a\tb"],
      ...[
        "https://shop.example/\u007f",
        "https://u@shop.example",
        "ftp://shop.example",
        "https://",
      ],
      ...[`https://${"x".repeat(2040)}`, `https://${"x".repeat(2041)}`],
      ...[`https://müller.example/${"ü".repeat(700)}`, `https://${"ü.".repeat(600)}example`],
    ]],
    ["DEFAULT_TIMEZONE", "timezone", [
      ...["Europe/Berlin", "europe/berlin", "UTC", "GMT", "EST", "Etc/GMT+5", "Asia/Calcutta"],
      ...["PST", "IST", "CST", "US/Pacific-New", "Factory", "+02:00", "Z", "Mars/Base"],
    ]],
  ];
  for (const [variable, member, values] of given) {
    for (const value of values) {
      const { success } = ProjectChange.safeParse({ [member]: value });
      assert.deepEqual(mistakes({ [variable]: value }), success ? [] : [variable], value);
    }
  }
});

Deno.test("readConfig: the default key is one that a project can be given", () => {
  const keys = [
    "pk_of_the_operator",
    "x".repeat(8),
    "x".repeat(7),
    "x".repeat(200),
    "x".repeat(201),
  ];
  for (
    const key of [
      ...keys,
      "sk_secretsecret",
      "site:x12345678",
      "sitex12345678",
      "Site:x123",
      "~!#ä",
    ]
  ) {
    const isTaken = mistakes({ DEFAULT_API_KEY: key }).length === 0;
    assert.equal(isTaken, isGivenKey(key, "public"), key);
  }
});

Deno.test("readConfig: only one way to verify tokens, and a replica only beside its primary", () => {
  const secret = "0123456789abcdef0123456789abcdef";
  assert.deepEqual(mistakes({ JWT_SECRET: secret, JWT_JWKS_URL: "https://x/keys" }), [
    "JWT_JWKS_URL",
  ]);
  assert.deepEqual(mistakes({ DATABASE_READ_URL: "postgres://x/y" }), ["DATABASE_READ_URL"]);
  const both = { DATABASE_URL: "postgresql://a/b", DATABASE_READ_URL: "postgres://c/d" };
  assert.deepEqual(mistakes(both), []);
});

Deno.test("readConfig: a mail server and a sender, both or neither", () => {
  const SMTP_URL = "smtps://mail.example.com";
  assert.equal(readConfig({}).mail, null);
  const { mail } = readConfig({ SMTP_URL, SMTP_FROM: "stats@example.com" });
  assert.deepEqual([mail?.server.host, mail?.from], ["mail.example.com", "stats@example.com"]);
  assert.deepEqual(mistakes({ SMTP_URL }), ["SMTP_FROM"]);
  assert.deepEqual(mistakes({ SMTP_FROM: "stats@example.com" }), ["SMTP_URL"]);
  assert.deepEqual(mistakes({ SMTP_URL: "mail", SMTP_FROM: "stats" }), ["SMTP_URL", "SMTP_FROM"]);
});

Deno.test("readEnvironment: it reads exactly what the start task permits", () => {
  const asked = Object.keys(readEnvironment());
  const documented: string[] = CONFIG_VARIABLES.map(({ name }) => name);
  assert.deepEqual(asked, [...documented, "NO_COLOR", "npm_lifecycle_event"]);
  for (const permitted of [denoJson.permissions.serve.env, denoJson.permissions.container.env]) {
    assert.deepEqual(asked.filter((name) => !permitted.includes(name)), []);
  }
});

Deno.test("readConfig: unusable keys, files and addresses are reported with the other mistakes", () => {
  const wrong = {
    JWT_PUBLIC_KEY: "zz",
    GEO_DATABASE: "/nowhere/city.mmdb",
    HOST: "!!",
    PORT: "eighty",
  };
  assert.throws(() => readConfig(wrong), (error: unknown) => {
    assert.ok(error instanceof ConfigMistakes);
    const named = error.mistakes.map(({ variable }) => variable).sort();
    assert.deepEqual(named, Object.keys(wrong).sort());
    return true;
  });
});

Deno.test({
  name: "readConfig: a browser that Footfall may not look at is taken as it is named",
  permissions: { read: false },
  fn: () => assert.equal(readConfig({ CHROME_PATH: "/nope" }).chromePath, "/nope"),
});
