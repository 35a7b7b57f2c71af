import type { App } from "../server/app.ts";
import type { Config } from "../config/config.ts";
import { openWriteDatabase } from "../db/open.ts";
import type { Database } from "../db/sql.ts";
import type { Log } from "../http/log.ts";

/**
 * Has the embedded engine work off what its first statement takes (40 ms, those after it 2 to 8), while this thread
 * makes the services.
 */
async function warmUp(database: Database): Promise<void> {
  if (database.engine === "embedded") await database.query("SELECT to_regclass('settings')");
}

/**
 * Makes the app. The embedded engine starts in its own thread while this thread still loads the rest of the
 * program. Throws what `createApp` throws.
 */
export async function startApp(config: Config, log: Log): Promise<App> {
  const opening = openWriteDatabase(config, log);
  opening.then(warmUp).catch(() => {});
  const { createApp } = await import("../server/app.ts");
  return await createApp(config, log, { opening });
}
