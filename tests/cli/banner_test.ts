import assert from "node:assert/strict";
import { startBanner, type Started } from "../../src/cli/banner.ts";
import { readConfig } from "../../src/config/config.ts";
import { asTyped, typedDeno, typedFootfall, typedVariable } from "../../src/typed_command.ts";

const STARTED: Started = {
  url: "http://localhost:8000",
  signIn: { kind: "setup", link: "http://localhost:8000/#setup=abc" },
  footfall: "npx --yes deno task footfall",
  needsUrl: false,
  project: "prj_default",
  firstKey: { key: "pk_first", isOurs: true },
};

Deno.test("banner: it shows the set-up link, and every command as it is typed", () => {
  const text = startBanner(STARTED);
  assert.match(text, /^\nFootfall is running at http:\/\/localhost:8000\n/);
  assert.match(text, /\n {2}http:\/\/localhost:8000\/#setup=abc\n/);
  assert.match(text, /public\): pk_first\n/);
  for (const [command] of text.matchAll(/\S+ (?:--quiet )?footfall [a-z]/g)) {
    assert.match(command, /^task /);
  }
  assert.equal(text.match(/npx --yes deno task/g)?.length, 3);
  // Only the link contains the secret.
  assert.equal(text.match(/abc/g)?.length, 1);
});

Deno.test("banner: every start says how the dashboard is opened", () => {
  const later = { ...STARTED, firstKey: null };
  const cases: [Started["signIn"], RegExp][] = [
    [{ kind: "people" }, /\nOpen the dashboard: http:\/\/localhost:8000\/\n$/],
    [{ kind: "elsewhere" }, /8000\/\nSign in with a token of your identity provider\.\n$/],
  ];
  for (const [signIn, expected] of cases) {
    assert.match(startBanner({ ...later, signIn }), expected);
  }
  const compiled = startBanner({ ...STARTED, footfall: "footfall" });
  assert.match(compiled, /\$\(footfall token\)/);
});

Deno.test("typed commands: by npm's hand with npx, else with deno", () => {
  assert.equal(typedDeno({ npm_lifecycle_event: "npx" }), "npx --yes deno");
  assert.equal(typedDeno({ npm_lifecycle_event: "" }), "deno");
  assert.equal(typedFootfall({}), "deno task footfall");
  assert.equal(
    asTyped("See `footfall --help` or `footfall key list`.", "deno task footfall"),
    "See `deno task footfall --help` or `deno task footfall key list`.",
  );
});

Deno.test("typed commands: they name the folder of the data, and no URL of a database", () => {
  const typed = (environment: Record<string, string>) => readConfig(environment).footfallHere;
  for (const DATA_DIR of ["", "./data"]) assert.equal(typed({ DATA_DIR }), "deno task footfall");
  const folder = "/srv/it's ours";
  assert.equal(typed({ DATA_DIR: "/srv/a" }), "DATA_DIR=/srv/a deno task footfall");
  assert.equal(typed({ DATA_DIR: folder }), "DATA_DIR='/srv/it'\\''s ours' deno task footfall");
  const shell = new Deno.Command("sh", {
    args: ["-c", `${typedVariable("A", folder)} printenv A`],
  });
  assert.equal(new TextDecoder().decode(shell.outputSync().stdout), `${folder}\n`);
  const DATABASE_URL = "postgres://a:secret@db/x";
  assert.equal(typed({ DATABASE_URL, DATA_DIR: "/srv/a" }), "deno task footfall");
  for (const needsUrl of [false, true]) {
    const tells = (signIn: Started["signIn"], firstKey: Started["firstKey"]) =>
      startBanner({ ...STARTED, needsUrl, signIn, firstKey }).includes("DATABASE_URL");
    assert.equal(tells(STARTED.signIn, null), needsUrl);
    assert.equal(tells({ kind: "people" }, STARTED.firstKey), needsUrl);
    assert.equal(tells({ kind: "people" }, null), false);
  }
});
