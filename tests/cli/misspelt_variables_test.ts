import assert from "node:assert/strict";
import { misspeltOf } from "../../src/cli/misspelt_variables.ts";
import { CONFIG_VARIABLES } from "../../src/config/config_variables.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { ended, footfall } from "./footfall_process.ts";

Deno.test("misspelt variables: a near miss is told with the name that is meant", () => {
  const cases: [string, string][] = [
    ["DATABASE_ULR", "DATABASE_URL"],
    ["READ_CACHE_MB", "READ_CACHE_MIB"],
    ["DATABSE_READ_URL", "DATABASE_READ_URL"],
    ["OIDC_SCOPE", "OIDC_SCOPES"],
    ["PROT", "PORT"],
    ["HOSTS", "HOST"],
    ["SMTP_ULR", "SMTP_URL"],
    ["DATADIR", "DATA_DIR"],
  ];
  for (const [variable, meant] of cases) {
    assert.deepEqual(misspeltOf([variable]), [{ variable, meant }]);
  }
});

Deno.test("misspelt variables: those of shells, hosts and other programs are no near misses", () => {
  assert.deepEqual(misspeltOf(CONFIG_VARIABLES.map(({ name }) => name)), []);
  const others =
    "HOME PATH PWD OLDPWD SHELL SHLVL TERM USER LOGNAME HOSTNAME HOSTTYPE OSTYPE LANG LC_ALL TZ " +
    "EDITOR PAGER MAIL PS1 DISPLAY TMPDIR NO_COLOR CI PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE POSTGRES_URL " +
    "POSTGRES_PASSWORD DENO_DIR NODE_ENV NODE_OPTIONS KUBERNETES_PORT KUBERNETES_SERVICE_HOST DYNO DATA_URL " +
    "FLY_REGION AWS_REGION HTTP_PROXY HTTPS_PROXY NO_PROXY REDIS_URL SMTP_HOST SMTP_PORT SMTP_USER SMTP_PASSWORD " +
    "LOG_FILE CHROME_BIN BASE_URL SECRET_KEY INVOCATION_ID JOURNAL_STREAM MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_ " +
    "SMTP_SSL SFTP_URL HTTP_URL VHOST GHOST COST POST SORT";
  assert.deepEqual(misspeltOf(others.split(" ")), []);
  assert.deepEqual(misspeltOf(["DATABASE_URI", "DATABASE_URL"]), [], "beside Footfall's own");
});

Deno.test("misspelt variables: a start warns of those in the file .env, and goes on", async () => {
  const folder = await makeDataDir("footfall-misspelt-");
  try {
    await Deno.writeTextFile(`${folder}/.env`, "# PROT=1\nREAD_CACHE_MB=64\nOTHER='a b'\n");
    const there = `${folder}/there.ts`;
    await Deno.writeTextFile(there, `Deno.chdir(${JSON.stringify(folder)});`);
    const env = { HOST: "192.0.2.1" };
    const { errors } = await ended(footfall(folder, ["serve"], "null", there, env));
    const warnings = errors.split("\n").filter((line) => line.includes("is it misspelt?"));
    assert.equal(warnings.length, 1, errors);
    assert.match(warnings[0]!, /READ_CACHE_MB.*READ_CACHE_MIB/);
    assert.match(errors, /192\.0\.2\.1/, "it goes on to listen");
    await Deno.writeTextFile(`${folder}/.env`, "SMTP_ULR=smtp://127.0.0.1\nSMTP_URL=\n");
    const beside = { SMTP_FROM: "footfall@example.com" };
    const refused = await ended(footfall(folder, ["serve"], "null", there, beside));
    assert.match(refused.errors, /SMTP_URL: is needed beside SMTP_FROM/);
    assert.match(refused.errors, /SMTP_ULR: there is no such variable; is SMTP_URL meant\?/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
