/**
 * The dashboard over plain HTTP under a name of the network, as on a server at home: the browser takes the
 * page for an insecure one, which lacks what needs a secure context.
 */
import assert from "node:assert/strict";
import { launchChromium } from "../support/chromium.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { PASSWORD } from "../support/person_browser.ts";
import { startServer } from "../support/server_process.ts";
import { fill, press } from "./acts.ts";
import { openPage, sees } from "./own_browser.ts";

Deno.test("plain HTTP: an insecure page makes the owner, who is still there after a reload", async () => {
  const dataDir = await makeDataDir("footfall-http-");
  await using server = await startServer({ DATA_DIR: dataDir }, { keepsOutput: true });
  const browser = await launchChromium({
    args: ["--host-resolver-rules=MAP stats.home 127.0.0.1"],
  });
  try {
    const home = server.url.replace(/127\.0\.0\.1|localhost/, "stats.home");
    const [fragment] = /#setup=[\w-]+/.exec(server.output)!;
    const page = await openPage(browser, `${home}/${fragment}`);
    await sees(page, "Make your account", "h1");
    assert.equal(await page.evaluate("isSecureContext"), false);
    await fill(page, "E-mail", "ada@example.com");
    await fill(page, "Name", "Ada Lovelace");
    await fill(page, "Password", PASSWORD);
    await page.keyboard.press("Enter");
    await sees(page, "Ada Lovelace", ".side-foot");
    await page.reload();
    await sees(page, "Ada Lovelace", ".side-foot");
    await press(page, "Sign out", ".side");
    await sees(page, "Sign in");
  } finally {
    await browser.close();
    await Deno.remove(dataDir, { recursive: true });
  }
});
