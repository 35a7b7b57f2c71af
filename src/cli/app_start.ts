import type { App } from "../server/app.ts";
import type { Config } from "../config.ts";
import { openWriteDatabase } from "../db/open.ts";
import type { Log } from "../http/log.ts";

/**
 * The app; throws what `createApp` throws. The embedded engine starts in its thread while the rest
 * of the program is still being loaded in this one.
 */
export async function startApp(config: Config, log: Log): Promise<App> {
  const opening = openWriteDatabase(config);
  opening.catch(() => {});
  const { createApp } = await import("../server/app.ts");
  return await createApp(config, log, { opening });
}
