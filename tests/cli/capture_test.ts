import assert from "node:assert/strict";
import { runFootfall } from "../../src/cli/cli.ts";
import { writeControlFile } from "../../src/cli/control_file.ts";
import { verdict } from "../../src/screenshots/capture_status.ts";
import type { ScreenshotResult } from "../../src/screenshots/browser/page_screenshot.ts";
import { captured, failed, FakePageCamera } from "../screenshots/fake_page_camera.ts";
import { onFreshEngines } from "../support/databases.ts";
import { TestApp } from "../support/app.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { until } from "../support/server_process.ts";
import { CapturedTerminal } from "./captured_terminal.ts";
import { ended, footfall } from "./footfall_process.ts";

const SITE = "https://shop.example";
const WAIT_MS_MAX = 180_000;
const DENIED = failed(verdict("not_publicly_reachable", "It asks visitors to sign in."));

async function run(args: readonly string[], env: Record<string, string>) {
  const terminal = new CapturedTerminal(false, args.includes("--json") ? false : true);
  const code = await runFootfall(["capture", ...args], { NO_COLOR: "1", ...env }, terminal);
  return { code, out: terminal.written, errors: terminal.errors };
}

/** Runs a server on a loopback port, where commands find it like any running server. */
async function besideServer(
  pageCamera: FakePageCamera,
  work: (env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const dataDir = await makeDataDir("footfall-capture-");
  const env = { DATA_DIR: dataDir, DEFAULT_SITE_URL: SITE };
  const server = new TestApp(env, { pageCamera });
  await server.start();
  const listener = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request, { remoteAddr }) => server.app.fetch(request, remoteAddr.hostname),
  );
  try {
    server.app.startCaptures();
    const url = `http://127.0.0.1:${listener.addr.port}`;
    await writeControlFile(dataDir, { url, token: server.app.controlToken });
    await work(env);
  } finally {
    await listener.shutdown();
    await server.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("footfall capture: a running server takes the pictures; 0 only if all are captured", async () => {
  const pageCamera = new FakePageCamera(({ path }) =>
    path === "/private" ? DENIED : captured(path)
  );
  await besideServer(pageCamera, async (env) => {
    const all = await run(["--path", "/a", "--path", "/b", "--device", "mobile"], env);
    assert.equal(all.code, 0, all.errors);
    assert.equal(
      all.out,
      "PATH  DEVICE  STATUS    MESSAGE\n" +
        "/a    mobile  captured  The page was captured.\n" +
        "/b    mobile  captured  The page was captured.\n",
    );
    assert.match(all.errors, /Capturing .* 0 of 2/, "a bar for who looks");
    assert.deepEqual(pageCamera.pages.toSorted(), ["/a mobile", "/b mobile"]);

    const some = await run(["--path", "/a", "--path", "/private", "--json"], env);
    assert.equal(some.code, 1);
    assert.equal(some.errors, "");
    const { job } = JSON.parse(some.out);
    assert.match(job.id, /^job_/);
    assert.equal(job.status, "done");
    assert.equal(job.captures.length, 6);
    assert.deepEqual(job.captures[3], {
      path: "/private",
      device: "desktop",
      status: "not_publicly_reachable",
      message: "It asks visitors to sign in.",
      nextAttemptAt: null,
    });

    const nothing = await run([], env);
    assert.equal(nothing.code, 0);
    assert.match(nothing.errors, /No page was viewed lately/);
  });
});

Deno.test("footfall capture: wrong usage is 2, and says what is wrong", async () => {
  await besideServer(new FakePageCamera(() => captured("")), async (env) => {
    const cases: [string[], RegExp][] = [
      [
        ["--path", "//evil.example/"],
        /--path \/\/evil\.example\/: Give a path on the project's site/,
      ],
      [["--path", "/a", "--device", "phone"], /--device phone: Use desktop, tablet, mobile/],
      [["/a"], /does not take `\/a`/],
      [["--paths", "/a"], /Did you mean `--path`\?/],
    ];
    for (const [args, message] of cases) {
      const { code, out, errors } = await run(args, env);
      assert.deepEqual([code, out], [2, ""], errors);
      assert.match(errors, message);
    }
    const unknown = await run(["--path", "/a", "--project", "prj_none"], env);
    assert.equal(unknown.code, 1);
    assert.match(unknown.errors, /no project with this id/);
  });
});

onFreshEngines("footfall capture: without a server it takes the pictures itself", async (_, db) => {
  const { code, out, errors } = await run(["--path", "/a", "--device", "tablet"], db.env);
  assert.equal(code, 1, errors);
  assert.match(out, /^\/a +tablet +site_url_missing +The project has no site URL\./m);
  const noBrowser = { ...db.env, DEFAULT_SITE_URL: SITE, CHROME_PATH: import.meta.filename! };
  const without = await run(["--path", "/a", "--device", "tablet"], noBrowser);
  assert.equal(without.code, 1, without.errors);
  assert.match(without.out, /^\/a +tablet +no_browser +.*\.$/m);
});

Deno.test("footfall capture: interrupted, it leaves the job to the server", async () => {
  const stuck = Promise.withResolvers<ScreenshotResult>();
  const pageCamera = new FakePageCamera(() => stuck.promise);
  await besideServer(pageCamera, async (env) => {
    // In its own process, because a signal to this one would also stop the commands of other tests.
    const capturing = footfall(env.DATA_DIR!, ["capture", "--path", "/a", "--device", "mobile"]);
    const running = ended(capturing);
    await until(WAIT_MS_MAX, () => Promise.resolve(pageCamera.atOnce === 1), "it is taken");
    capturing.kill("SIGTERM");
    const { code, out, errors } = await running;
    assert.deepEqual([code, out], [130, ""]);
    assert.match(errors, /footfall: Stopped by SIGTERM\.\n$/);
    assert.equal(pageCamera.atOnce, 1, "the server goes on");
    stuck.resolve(captured("late"));
  });
});
