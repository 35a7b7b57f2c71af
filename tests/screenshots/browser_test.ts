import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import type { CaptureBrowser } from "../../src/screenshots/browser/browser.ts";
import { findBrowser } from "../../src/screenshots/browser/browser_finder.ts";
import { makeProfile, sweepProfiles } from "../../src/screenshots/browser/browser_profile.ts";
import { DeadlinePassed } from "../../src/screenshots/deadline.ts";
import { BrowserEnded, BrowserMissing } from "../../src/screenshots/browser/running_browser.ts";
import { until } from "../support/server_process.ts";
import { makeBrowser, NO_PROXY } from "./capture_world.ts";

const WAIT_MS_MAX = 20_000;
const OPTIONS = { device: "desktop", proxyUrl: NO_PROXY, deadlineMs: 30_000 } as const;

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-browsers-" });
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Names of the profile folders that are there. */
async function profiles(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(join(folder, "browser"))).catch(() => []);
  return entries.map(({ name }) => name);
}

function isRunning(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

/** The processes whose command line names a folder. */
function processesOf(folder: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    if (!Number.isInteger(pid)) return false;
    try {
      return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(folder);
    } catch {
      return false;
    }
  });
}

async function gone(folder: string): Promise<void> {
  await until(
    WAIT_MS_MAX,
    () => Promise.resolve(processesOf(folder).length === 0),
    "no process is left",
  );
}

async function title(page: Page): Promise<string> {
  await page.setContent("<title>Here</title>");
  return await page.title();
}

Deno.test("browser finder: only the configured one, else the usual places", async () => {
  const only = (...paths: string[]) => (path: string) => Promise.resolve(paths.includes(path));
  assert.equal(await findBrowser("/opt/x", "linux", only("/usr/bin/chromium")), null);
  assert.equal(await findBrowser("/opt/x", "linux", only("/opt/x", "/usr/bin/chromium")), "/opt/x");
  assert.equal(await findBrowser(null, "linux", only("/usr/bin/chromium")), "/usr/bin/chromium");
  assert.equal(
    await findBrowser(null, "linux", only("/opt/google/chrome/chrome", "/usr/bin/google-chrome")),
    "/usr/bin/google-chrome",
  );
  const mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
  assert.equal(await findBrowser(null, "darwin", only(mac)), mac);
  const windows = "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe";
  assert.equal(await findBrowser(null, "windows", only(windows)), windows);
  assert.equal(await findBrowser(null, "linux", only()), null);
});

Deno.test("browser: the message about a missing browser says what to do", async () => {
  await inFolder(async (folder) => {
    const told = async (browser: CaptureBrowser) => {
      const error = await browser.page(OPTIONS, title).then(() => null, (error) => error);
      await browser.close();
      assert.ok(error instanceof BrowserMissing, String(error));
      assert.doesNotMatch(error.message, new RegExp(folder));
      return error.message;
    };
    assert.match(await told(makeBrowser(folder, { noSandbox: false })), /CHROME_NO_SANDBOX=1/);
    assert.match(
      await told(makeBrowser(folder, { noSandbox: false, isRoot: false })),
      /CHROME_NO_SANDBOX=1/,
      "where nobody could tell that it is root",
    );
    const chromePath = join(folder, "chrome");
    assert.match(await told(makeBrowser(folder, { chromePath })), /CHROME_PATH/);
    await Deno.writeTextFile(chromePath, "#!/bin/sh\nexit 1\n");
    assert.match(await told(makeBrowser(folder, { chromePath })), /server/, "no program");
    await Deno.chmod(chromePath, 0o755);
    assert.match(await told(makeBrowser(folder, { chromePath })), /ended as soon/);
    await until(
      WAIT_MS_MAX,
      async () => (await profiles(folder)).length === 0,
      "no profile is left",
    );
  });
});

Deno.test("browser: pages share one, each with storage of its own", async () => {
  await inFolder(async (folder) => {
    await using browser = makeBrowser(folder);
    const [pid] = await browser.page(OPTIONS, async (page) => {
      await page.setCookie({ name: "a", value: "1", url: "http://site.test" });
      return browser.pids;
    });
    const cookies = await browser.page(OPTIONS, (page) => page.cookies("http://site.test"));
    assert.deepEqual(cookies, []);
    const both = await Promise.all([browser.page(OPTIONS, title), browser.page(OPTIONS, title)]);
    assert.deepEqual(both, ["Here", "Here"]);
    assert.deepEqual(browser.pids, [pid]);
  });
});

Deno.test("browser: two pages at once start one, and none of its processes outlive it", async () => {
  await inFolder(async (folder) => {
    await using browser = makeBrowser(folder);
    const pids = await Promise.all(
      [1, 2, 3].map(() => browser.page(OPTIONS, () => Promise.resolve(browser.pids))),
    );
    assert.equal(new Set(pids.flat()).size, 1);
    assert.equal((await profiles(folder)).length, 1);
    assert.ok(processesOf(folder).length > 0);
    await browser.close();
    await gone(folder);
    await until(
      WAIT_MS_MAX,
      async () => (await profiles(folder)).length === 0,
      "no profile is left",
    );
  });
});

Deno.test("browser: replaced after a number of pages, even if one is still open", async () => {
  await inFolder(async (folder) => {
    await using browser = makeBrowser(folder, { pagesMax: 2 });
    const seen = new Set<number>();
    const release = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const open = browser.page(OPTIONS, async (page) => {
      begun.resolve();
      await release.promise;
      return await title(page);
    });
    await begun.promise;
    for (let i = 0; i < 4; i++) {
      await browser.page(
        OPTIONS,
        () => Promise.resolve(browser.pids.forEach((pid) => seen.add(pid))),
      );
    }
    assert.equal(seen.size, 3);
    release.resolve();
    assert.equal(await open, "Here");
    await until(WAIT_MS_MAX, () => Promise.resolve(browser.pids.length <= 1), "the old ones end");
  });
});

Deno.test("browser: one that is killed fails its page, and the next page has another", async () => {
  await inFolder(async (folder) => {
    await using browser = makeBrowser(folder);
    const failed = browser.page(OPTIONS, (page) => {
      browser.pids.forEach((pid) => Deno.kill(pid, "SIGKILL"));
      return title(page);
    });
    await assert.rejects(failed, BrowserEnded);
    assert.equal(await browser.page(OPTIONS, title), "Here");
  });
});

Deno.test("browser: work that takes too long is given up with its page", async () => {
  await inFolder(async (folder) => {
    await using browser = makeBrowser(folder);
    await browser.page(OPTIONS, title);
    const [pid] = browser.pids;
    let given: AbortSignal | undefined;
    const late = browser.page({ ...OPTIONS, deadlineMs: 5_000 }, async (page, signal) => {
      given = signal;
      await page.evaluate(() => {
        for (;;);
      });
    });
    await assert.rejects(late, DeadlinePassed);
    assert.equal(given?.aborted, true);
    assert.equal(await browser.page(OPTIONS, title), "Here");
    assert.deepEqual(browser.pids, [pid], "the browser itself still answers");
  });
});

Deno.test("browser: an idle one is closed", async () => {
  await inFolder(async (folder) => {
    await using browser = makeBrowser(folder, { idleMs: 50 });
    await browser.page(OPTIONS, title);
    // An idle server would have other timers.
    await until(WAIT_MS_MAX, () => Promise.resolve(browser.pids.length === 0), "it is closed");
    assert.equal(await browser.page(OPTIONS, title), "Here");
  });
});

Deno.test("browser: it resolves no names by itself", async () => {
  await inFolder(async (folder) => {
    await using browser = makeBrowser(folder);
    const failure = await browser.page(
      OPTIONS,
      (page) => page.goto("http://localhost:8080/").then(() => "", (error) => String(error)),
    );
    assert.match(failure, /ERR_NAME_NOT_RESOLVED/);
  });
});

Deno.test("browser profiles: those of ended owners are swept, others stay", async () => {
  await inFolder(async (folder) => {
    const own = await makeProfile(folder);
    const left = join(folder, "footfall-browser-1-left");
    await Deno.mkdir(left);
    await Deno.writeTextFile(join(left, "owner.lock"), "");
    const making = join(folder, "footfall-browser-1-making");
    await Deno.mkdir(making);
    const other = join(folder, "something-else");
    await Deno.mkdir(other);
    await sweepProfiles(folder);
    const names = [...Deno.readDirSync(folder)].map(({ name }) => join(folder, name)).toSorted();
    assert.deepEqual(names, [await Deno.realPath(making), own.folder, other].toSorted());
    await own.remove();
    assert.equal(await Deno.stat(own.folder).then(() => true, () => false), false);
    await sweepProfiles(join(folder, "nowhere"));
  });
});

/** Starts a program of its own that has a browser, `browser`, and does `work`. */
async function startOwner(folder: string, work: string, chromePath: string | null = null) {
  const script = `import { makeBrowser, NO_PROXY } from ${
    JSON.stringify(import.meta.resolve("./capture_world.ts"))
  };
    const browser = makeBrowser(${JSON.stringify(folder)}, ${JSON.stringify({ chromePath })});
    const options = { device: "desktop", proxyUrl: NO_PROXY, deadlineMs: 60000 };
    ${work}`;
  const path = join(folder, "owner.ts");
  await Deno.writeTextFile(path, script);
  const config = fileURLToPath(new URL("../../deno.json", import.meta.url));
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--frozen", "--config", config, path],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
}

Deno.test("browser: a killed owner leaves no process, and its folder is swept", async () => {
  await inFolder(async (folder) => {
    await using owner = await startOwner(
      folder,
      `await browser.page(options, async (page) => {
        console.log("open");
        await page.evaluate(() => new Promise(() => {}));
      });`,
    );
    await owner.stdout.getReader().read();
    assert.ok(processesOf(join(folder, "browser")).some(isRunning));
    owner.kill("SIGKILL");
    await owner.status;
    await gone(join(folder, "browser"));
    assert.equal((await profiles(folder)).length, 1);
    await using browser = makeBrowser(folder);
    await browser.page(OPTIONS, title);
    assert.equal((await profiles(folder)).length, 1, "its own");
  });
});

Deno.test("browser: one that hangs at its start ends with its owner", async () => {
  await inFolder(async (folder) => {
    const chrome = join(folder, "chrome");
    await Deno.writeTextFile(chrome, "#!/bin/sh\nwhile :; do sleep 1; done\n", { mode: 0o755 });
    await using owner = await startOwner(
      folder,
      `browser.page(options, () => {}).catch(() => {});
      await Deno.stdin.read(new Uint8Array(1));
      Deno.exit(0);`,
      chrome,
    );
    const started = () => Promise.resolve(processesOf(join(folder, "browser")).length > 0);
    await until(WAIT_MS_MAX, started, "the browser is started");
    await owner.stdin.close();
    assert.equal((await owner.status).code, 0);
    await gone(join(folder, "browser"));
  });
});
