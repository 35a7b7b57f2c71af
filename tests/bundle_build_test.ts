import assert from "node:assert/strict";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Output, programSources, removeOthers, sourcesOf } from "../src/bundle_build.ts";
import { buildIfNeeded, lookOfSources } from "../src/bundles.ts";

const DAY_MS = 24 * 3_600_000;

/** Calls `run` with a folder that has the kinds of sources of a checkout. */
async function withSources(run: (root: URL) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-sources-" });
  const root = pathToFileURL(`${folder}/`);
  try {
    await Deno.mkdir(new URL("migrations", root));
    await Deno.mkdir(new URL("src/db", root), { recursive: true });
    for (const name of ["deno.json", "deno.lock", "main.ts", "src/db/sql.ts"]) {
      await Deno.writeTextFile(new URL(name, root), "1");
    }
    await run(root);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("bundles: files that the dashboard shares with the server are among its sources", () => {
  const source = new URL("../src/", import.meta.url);
  const files = sourcesOf(new URL("dashboard/", source))
    .map(({ href }) => href.slice(source.href.length));
  for (const file of ["dashboard/api.ts", "event_file/csv.ts", "json_text.ts"]) {
    assert.ok(files.includes(file), file);
  }
  assert.ok(!files.includes("query/filters.ts"), "of which it has types alone");
});

Deno.test("bundles: every file that the program imports is among its sources", async () => {
  const root = new URL("../", import.meta.url);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "main.ts"],
    cwd: fileURLToPath(root),
  }).output();
  const { modules }: { modules: { specifier: string; error?: string }[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const own = modules.map(({ specifier }) => specifier)
    .filter((specifier) => specifier.startsWith(root.href));
  assert.ok(own.length > 500, `${own.length}`);
  const known = new Set(programSources().map(({ href }) => href));
  assert.deepEqual(own.filter((file) => !known.has(file)), []);
});

Deno.test("bundles: sources look different once one has changed, is new or is gone", () =>
  withSources(async (root) => {
    const file = new URL("src/db/sql.ts", root);
    const looks = [await lookOfSources(root)];
    assert.equal(await lookOfSources(root), looks[0]);
    await Deno.writeTextFile(file, "12");
    looks.push(await lookOfSources(root));
    await Deno.utime(file, 1, 1);
    looks.push(await lookOfSources(root));
    // The time that no program can set is known in whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1010));
    await Deno.writeTextFile(file, "21");
    await Deno.utime(file, 1, 1);
    looks.push(await lookOfSources(root));
    await Deno.writeTextFile(new URL("migrations/0001_first.sql", root), "");
    looks.push(await lookOfSources(root));
    await Deno.remove(file);
    looks.push(await lookOfSources(root));
    await Deno.remove(new URL("migrations", root), { recursive: true });
    looks.push(await lookOfSources(root));
    assert.equal(new Set(looks).size, looks.length);
  }));

Deno.test("bundles: an editor's links and files among the sources do not matter", () =>
  withSources(async (root) => {
    const look = await lookOfSources(root);
    await Deno.symlink("nobody@nowhere.1", new URL("src/.%23sql.ts", root));
    await Deno.symlink("..", new URL("src/db/above", root));
    assert.equal(await lookOfSources(root), look);
    const saved = new URL("src/%23sql.ts%23", root);
    await Deno.writeTextFile(saved, "1");
    assert.notEqual(await lookOfSources(root), look, "it is one file more");
    assert.ok(sourcesOf(new URL("src/", root)).some(({ href }) => href === saved.href));
  }));

Deno.test("bundles: a build is needed unless its note tells of these sources, and its files are there", () =>
  withSources(async (root) => {
    const stamp = new URL("dist/sdk/stamp", root);
    const template = new URL("dist/database/one", root);
    let builds = 0;
    const build = async (): Promise<Output[]> => {
      builds++;
      await Deno.mkdir(new URL("dist/sdk", root), { recursive: true });
      await Deno.mkdir(new URL("dist/database", root), { recursive: true });
      await Deno.writeTextFile(stamp, "abc\nsdk.js");
      await Deno.writeTextFile(template, "");
      return [{ path: "dist/sdk/stamp", digest: "abc" }, { path: "dist/database/one" }];
    };
    const buildsOf = async (change: () => Promise<void>) => {
      await change();
      const before = builds;
      await buildIfNeeded(root, build);
      await buildIfNeeded(root, build);
      return builds - before;
    };
    const note = new URL("dist/built", root);
    assert.equal(await buildsOf(async () => {}), 1);
    assert.equal(await buildsOf(async () => {}), 0);
    assert.equal(await buildsOf(() => Deno.remove(stamp)), 1);
    assert.equal(await buildsOf(() => Deno.remove(template)), 1);
    assert.equal(await buildsOf(() => Deno.writeTextFile(stamp, "abd\nsdk.js")), 1);
    assert.equal(await buildsOf(() => Deno.writeTextFile(new URL("main.ts", root), "12")), 1);
    const { size } = await Deno.stat(note);
    assert.equal(
      await buildsOf(() => Deno.truncate(fileURLToPath(note), size - 1)),
      1,
      "written in part",
    );
    await Deno.remove(note);
    assert.equal(await buildsOf(() => Deno.mkdir(note)), 2, "it cannot be written");
    await assert.rejects(buildIfNeeded(root, () => Promise.reject(new Error("no"))), /^Error: no$/);
  }));

Deno.test("bundles: scripts that were replaced stay for those who still load them", async () => {
  const path = await Deno.makeTempDir({ prefix: "footfall-scripts-" });
  const folder = pathToFileURL(`${path}/`);
  const left = () => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  try {
    for (const name of ["a-1.js", "a-2.js", "main.js", "stamp"]) {
      await Deno.writeTextFile(new URL(name, folder), "");
      await Deno.utime(new URL(name, folder), 1, 1);
    }
    const named = (...names: string[]) => new Set(names);
    // The second build of the kind: a-1 was replaced just now, however long ago it was written.
    await removeOthers(folder, named("main.js", "a-2.js"), named("main.js", "a-1.js"), DAY_MS);
    await removeOthers(folder, named("main.js"), named("main.js", "a-2.js", "gone.js"), DAY_MS);
    assert.deepEqual(left(), ["a-1.js", "a-2.js", "main.js", "stamp"]);
    const longAgo = (Date.now() - DAY_MS) / 1000 - 1;
    await Deno.utime(new URL("a-1.js", folder), longAgo, longAgo);
    await removeOthers(folder, named("main.js"), named("main.js"), DAY_MS);
    assert.deepEqual(left(), ["a-2.js", "main.js", "stamp"]);
    // A minute ago: the clock may be set back by a few milliseconds meanwhile.
    const earlier = Date.now() / 1000 - 60;
    await Deno.utime(new URL("a-2.js", folder), earlier, earlier);
    await removeOthers(folder, named("main.js"), named("main.js"), 30_000);
    assert.deepEqual(left(), ["main.js", "stamp"]);
    // Ten builds of two scripts, a minute apart.
    const builds = Array.from({ length: 10 }, (_, build) => [`a-${build}.js`, `b-${build}.js`]);
    for (const [build, names] of builds.entries()) {
      const replaced = Date.now() / 1000 - (10 - build) * 60;
      for (const name of names) {
        await Deno.writeTextFile(new URL(name, folder), "");
        await Deno.utime(new URL(name, folder), replaced, replaced);
      }
    }
    await removeOthers(folder, named("main.js", "c.js"), named("main.js"), DAY_MS);
    assert.deepEqual(left(), [...builds.slice(2).flat(), "main.js", "stamp"].sort());
  } finally {
    await Deno.remove(path, { recursive: true });
  }
});
