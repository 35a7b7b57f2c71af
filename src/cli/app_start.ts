import type { App } from "../server/app.ts";
import type { Config } from "../config.ts";
import { openWriteDatabase } from "../db/open.ts";
import type { Log } from "../http/log.ts";

/**
 * Makes the app. The embedded engine starts in its own thread while this thread still loads the rest of the
 * program. Throws what `createApp` throws.
 */
export async function startApp(config: Config, log: Log): Promise<App> {
  const opening = openWriteDatabase(config, log);
  opening.catch(() => {});
  const { createApp } = await import("../server/app.ts");
  return await createApp(config, log, { opening });
}
