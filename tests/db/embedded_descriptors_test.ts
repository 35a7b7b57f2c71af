import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { makeDataDir } from "../support/embedded_template.ts";

const DESCRIPTORS = 256;
/** Four of five of them find no descriptor at first: more than the numbers that the engine has for open files. */
const OPENED = 6_000;
/** More files than the engine has left to it. */
const TABLES = 250;
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));
const EMBEDDED = import.meta.resolve("../../src/db/embedded.ts");

const PROGRAM = `
  import { openEmbedded } from ${JSON.stringify(EMBEDDED)};
  // Deno's signals take descriptors when they are first wanted, and end the process where there are none: a server and
  // each command have them from the start, as here.
  Deno.addSignalListener("SIGTERM", () => Deno.exit());
  const sql = await openEmbedded(Deno.args[0]);
  await sql.script("CREATE TABLE first (words text)");
  const out = (...words) => Deno.stdout.writeSync(new TextEncoder().encode(words.join(" ") + "\\n"));
  const held = [];
  try {
    for (;;) held.push(Deno.openSync("/dev/null"));
  } catch { /* None is left. */ }
  // Its map of free space is a file that is made meanwhile.
  const insert = "INSERT INTO first SELECT repeat('word', 200) FROM generate_series(1, 500)";
  out("insert:", await sql.query(insert).then(() => "stored", ({ message }) => message));
  const each = (text) => Array.from({ length: ${TABLES} }, (_, n) => text(n)).join(";");
  await sql.script(each((n) => "CREATE TABLE t" + n + " (words text)"));
  let answered = 0;
  while (answered < ${OPENED}) {
    await sql.script(each((n) => "SELECT FROM t" + n));
    answered += ${TABLES};
  }
  out("answered:", answered);
  const last = held.pop();
  for (const file of held) file.close();
  await sql.query(insert);
  await sql.script(each((n) => "SELECT FROM t" + n));
  last.close();
  out("all in use:", [...Deno.readDirSync("/dev/fd")].length > ${DESCRIPTORS - 40});
  out("rows:", (await sql.query("SELECT count(*)::int AS rows FROM first"))[0].rows);
  Deno.exit();
`;

Deno.test("openEmbedded: works again after it ran out of descriptors", async () => {
  const dataDir = await makeDataDir("footfall-data-");
  try {
    const path = `${dataDir}/exhaust.js`;
    await Deno.writeTextFile(path, PROGRAM);
    const { stdout, stderr } = await new Deno.Command("sh", {
      args: [
        ...["-c", `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`, Deno.execPath()],
        ...["run", "-A", "--no-lock", "--config", CONFIG, path, dataDir],
      ],
      // A look for a newer Deno, which it makes once a day, is a connection that wants descriptors too.
      env: { DENO_NO_UPDATE_CHECK: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "");
    assert.equal(
      new TextDecoder().decode(stdout),
      "insert: stored\nanswered: 6000\nall in use: true\nrows: 1000\n",
    );
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
