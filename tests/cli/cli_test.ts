import assert from "node:assert/strict";
import { findCommand, parseCall, runFootfall } from "../../src/cli/cli.ts";
import { allCommands } from "../../src/cli/commands.ts";
import { UsageMistake } from "../../src/cli/command.ts";
import { CONFIG_VARIABLES } from "../../src/config/config_variables.ts";
import manifest from "../../deno.json" with { type: "json" };
import { CapturedTerminal } from "./captured_terminal.ts";

async function run(args: readonly string[], environment: Record<string, string> = {}) {
  const terminal = new CapturedTerminal();
  const code = await runFootfall(args, environment, terminal);
  return { code, out: terminal.written, errors: terminal.errors };
}

Deno.test("footfall: without a command, and with --help, lists commands and variables", async () => {
  const { code, out } = await run([]);
  assert.equal(code, 0);
  assert.equal((await run(["--help"])).out, out);
  for (const { name } of await allCommands()) assert.ok(out.includes(`  ${name} `), name);
  for (const { name } of CONFIG_VARIABLES) assert.ok(out.includes(`  ${name} `), name);
});

Deno.test("footfall --version: that of deno.json", async () => {
  assert.deepEqual(await run(["--version"]), {
    code: 0,
    out: `footfall ${manifest.version}\n`,
    errors: "",
  });
  const { code, out } = await run(["--version", "--json"]);
  assert.deepEqual([code, JSON.parse(out)], [0, { version: manifest.version }]);
});

Deno.test("footfall <command> --help: its options and an example, without a configuration", async () => {
  for (const command of await allCommands()) {
    const words = command.name.split(" ");
    const { code, out, errors } = await run([...words, "--help"], { PORT: "not a port" });
    assert.equal(code, 0, errors);
    for (const name of Object.keys(command.options)) assert.ok(out.includes(`--${name}`), name);
    assert.equal(out.includes("--json"), command.name !== "serve");
    assert.ok(out.includes(command.example));
  }
});

Deno.test("footfall: the example and the usage of every command are ones that it takes", async () => {
  for (const { name, example, usage, wordsMax } of await allCommands()) {
    const typed = example.replace(/^.*?footfall /, "").replace(/ > .*$/, "");
    const args = [...typed.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
    const found = await findCommand(args);
    assert.equal(found.kind === "command" && found.command.name, name);
    if (found.kind === "command") parseCall(found.command, found.rest);
    assert.ok(usage.startsWith(`footfall ${name}`));
    // An import of another product takes any number of files.
    assert.ok(wordsMax <= 2 || name === "import");
  }
});

Deno.test("footfall: a word that is no command is exit 2, and the nearest one is named", async () => {
  const cases: [string[], RegExp][] = [
    [["sevre"], /Unknown command `sevre`\. Did you mean `serve`\?/],
    [["projct", "list"], /Did you mean `project`\?/],
    [["key", "rotat"], /Unknown command `key rotat`\. Did you mean `rotate`\?/],
    [["xyzzy"], /^footfall: Unknown command `xyzzy`\. See/],
    [["--jsn"], /must be a command, not `--jsn`/],
    [["a\x1b[31m\nb"], /^footfall: Unknown command `a b`/],
  ];
  for (const [args, message] of cases) {
    const { code, out, errors } = await run(args);
    assert.equal(code, 2);
    assert.equal(out, "");
    assert.match(errors, message);
    assert.equal(errors.trimEnd().split("\n").length, 1);
  }
});

Deno.test("footfall: an unknown option, a missing value or a surplus word is exit 2", async () => {
  const cases: [string[], RegExp][] = [
    [["token", "--scoep", "read"], /Unknown option `--scoep`\. Did you mean `--scope`\?/],
    [["token", "--ttl"], /--ttl/],
    [["token", "--link=yes"], /--link/],
    [["token", "read"], /does not take `read`/],
    [["key", "rotate", "a", "b"], /does not take `b`/],
    [["key", "rotate"], /Say which key/],
    [["token", "--ttl", "soon"], /--ttl must be a duration/],
    [["token", "create"], /Say what the token is for/],
    [["token", "create", "--name", "a", "--ttl", "soon"], /--ttl must be a duration/],
    [["token", "revoke"], /Say which token/],
    [["seed", "--weeks", "0"], /--weeks must be a whole number from 1 to/],
    [["seed", "--until", "soon"], /--until must be a date/],
    [["import"], /Say which FILE/],
    [["export", "--json"], /--output/],
    [["export", "--to", "2026-01-01"], /--from/],
    [["project", "set", "--name", "x"], /--id/],
    [["project", "create"], /--name/],
    [["serve", "--json"], /LOG_FORMAT/],
    // What an unset variable of a script leaves.
    [["erase", "", "--yes"], /A word after `.* erase` is empty/],
    [["archive", ""], /A word after `.* archive` is empty/],
    [["export", "--from", ""], /--from is empty/],
    [["export", "--project="], /--project is empty/],
    [["token", "--project", "prj_a", "--project", ""], /--project is empty/],
    // Standard output to other programs, and to none of these a file of that name.
    [["archive", "-"], /`-` is no file to write/],
    [["export", "--output", "-"], /`-` is no file to write/],
    [["import", "a.ndjson", "--rejected", "-"], /`-` is no file to write/],
    [["import", "--from", "posthog", import.meta.filename!, "--rejected", "-"], /`-` is no file/],
    // Options that an import would pass over.
    [
      ["import", "a.ndjson", "--remove"],
      /--remove goes with --from plausible\|fathom\|goatcounter/,
    ],
    [["import", "a.ndjson", "--yes"], /--yes goes with --from amplitude\|/],
    [["import", "--from", "posthog", "a.zip", "--remove"], /--remove goes with --from plausible/],
    [["import", "--from", "umami", "a.zip", "--time-zone", "UTC"], /--time-zone .* mixpanel alone/],
    [["import", "--from", "mixpanel", "a.gz", "--website", "a"], /--website .* umami alone/],
  ];
  for (const [args, message] of cases) {
    const { code, errors } = await run(args, { DATABASE_URL: "postgres://127.0.0.1:1/none" });
    assert.equal(code, 2, args.join(" "));
    assert.match(errors, message);
  }
});

Deno.test("footfall project: the commands of the group", async () => {
  const { code, out } = await run(["project"]);
  assert.equal(code, 0);
  assert.match(out, /project list .*\n.*project create .*\n.*project set/);
});

Deno.test("footfall: every mistake of the environment is printed on its own line, with exit code 1", async () => {
  const { code, out, errors } = await run(["token"], { PORT: "x", LOG_LEVEL: "loud" });
  assert.equal(code, 1);
  assert.equal(out, "");
  const lines = errors.trimEnd().split("\n");
  assert.equal(lines.length, 3);
  assert.match(lines[1]!, /^ {2}PORT: /);
  assert.match(lines[2]!, /^ {2}LOG_LEVEL: /);
});

Deno.test("footfall --json: a failure is one JSON document too", async () => {
  const { code, out } = await run(["token", "--json"], { PORT: "x" });
  assert.equal(code, 1);
  const { error } = JSON.parse(out);
  assert.equal(error.code, "configuration");
  assert.equal(error.errors[0].place, "PORT");
  const absent = await run(["import", "absent.ndjson", "--dry-run", "--json"]);
  assert.deepEqual(JSON.parse(absent.out).error.code, "unreadable_file");
});

Deno.test("footfall: the error for a database that does not answer says what to do", async () => {
  const { code, errors } = await run(["migrate"], {
    DATABASE_URL: "postgres://127.0.0.1:1/none",
    LOG_LEVEL: "error",
  });
  assert.equal(code, 1);
  assert.match(errors, /^footfall: The database is not available: .*DATABASE_URL/);
  assert.equal(errors.trimEnd().split("\n").length, 1);
});

Deno.test("parseCall: repeated options are gathered, flags and words are distinguished", async () => {
  const found = await findCommand(["token", "--project", "a", "--link", "--project=b"]);
  assert.ok(found.kind === "command");
  const { options } = parseCall(found.command, found.rest);
  assert.deepEqual(options.list("project"), ["a", "b"]);
  assert.equal(options.flag("link"), true);
  assert.equal(options.text("ttl"), null);
  const set = await findCommand(["project", "set", "--site-url", "", "--allowed-origin", ""]);
  assert.ok(set.kind === "command");
  assert.equal(parseCall(set.command, set.rest).options.text("site-url"), "");
  await assert.rejects(findCommand([]), UsageMistake);
});
