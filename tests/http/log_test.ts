import assert from "node:assert/strict";
import { createLog, type LogFormat, type LogLevel } from "../../src/http/log.ts";
import { LOG_FACT_LENGTH_MAX } from "../../src/limits.ts";

function logged(format: LogFormat, level: LogLevel = "debug", colour = false) {
  const lines: string[] = [];
  const now = () => Date.parse("2026-11-21T04:05:06.789Z");
  const log = createLog({ level, format, colour, now, write: (line) => lines.push(line) });
  return { log, lines };
}

Deno.test("log: a JSON line has time, level, message and the facts", () => {
  const { log, lines } = logged("json");
  log.info("stored", { events: 3, key: null, bot: false });
  assert.deepEqual(JSON.parse(lines[0] ?? ""), {
    time: "2026-11-21T04:05:06.789Z",
    level: "info",
    message: "stored",
    events: 3,
    key: null,
    bot: false,
  });
});

Deno.test("log: lines below the level are not written", () => {
  const all: LogLevel[] = ["debug", "info", "warn", "error"];
  for (const [rank, level] of all.entries()) {
    const { log, lines } = logged("json", level);
    for (const each of all) log[each](each);
    assert.deepEqual(lines.map((line) => JSON.parse(line).message), all.slice(rank));
  }
});

Deno.test("log: no fact can forge a line or send control characters to the terminal", () => {
  const hostile = "a\nINFO forged\r\x1b[2J\x07\x9b31m";
  for (const format of ["pretty", "json"] as const) {
    const { log, lines } = logged(format);
    log.warn("request", { path: hostile, absent: undefined });
    assert.equal(lines.length, 1);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(lines[0] ?? "", /[\u0000-\u001f]/);
    assert.doesNotMatch(lines[0] ?? "", /absent/);
  }
  const { log, lines } = logged("pretty");
  log.warn("request", { path: hostile });
  assert.ok(!(lines[0] ?? "").includes("\x9b"));
});

Deno.test("log: keys, tokens and mail addresses are removed from every message", () => {
  const secrets = [
    "pk_abcDEF123",
    "sk_abc-DEF_123",
    "control_0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl",
    "jane.doe+shop@mail.example.org",
  ];
  for (const format of ["pretty", "json"] as const) {
    const { log, lines } = logged(format);
    for (const secret of secrets) {
      log.error("failed", { reason: `at "${secret}", twice: ${secret}` });
    }
    for (const secret of secrets) assert.ok(!lines.join("\n").includes(secret), secret);
    assert.match(lines[0] ?? "", /\[left out\]\\?", twice: \[left out\]/);
  }
});

Deno.test("log: long facts are cut, and none takes long", () => {
  const { log, lines } = logged("json");
  log.warn("long", { exact: "x".repeat(LOG_FACT_LENGTH_MAX) });
  log.warn("long", { reason: "x".repeat(LOG_FACT_LENGTH_MAX + 1) });
  for (const unit of ["a", "a.", "eyJ", "pk_", "a@", "@"]) {
    log.warn("long", { reason: unit.repeat(5_000_000) });
  }
  assert.equal(JSON.parse(lines[0]!).exact.length, LOG_FACT_LENGTH_MAX);
  for (const line of lines.slice(1)) {
    assert.ok(line.length <= 2 * LOG_FACT_LENGTH_MAX, line.slice(0, 99));
  }
  assert.ok(JSON.parse(lines[1]!).reason.endsWith("x…"));
});

Deno.test("log: a readable line has the time, the level and the facts, coloured only if asked", () => {
  const { log, lines } = logged("pretty");
  log.error("failed", { status: 500 });
  assert.equal(lines[0], "04:05:06 error failed status=500");
  const coloured = logged("pretty", "debug", true);
  coloured.log.error("failed");
  assert.ok((coloured.lines[0] ?? "").includes("\x1b[31m"));
});
