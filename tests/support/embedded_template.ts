import { join } from "node:path";
import lock from "../../deno.lock" with { type: "text" };
import { openEmbedded } from "../../src/db/embedded.ts";
import { copyFolder, copyTemplate } from "./folder_template.ts";

const VERSION = /"npm:@electric-sql\/pglite@\S*": "([^"]+)"/.exec(lock)?.[1] ?? "unknown";

/** A new folder for DATA_DIR in which the embedded engine finds its empty cluster made already. */
export async function makeDataDir(prefix: string): Promise<string> {
  const dataDir = await Deno.makeTempDir({ prefix });
  await copyTemplate(`embedded-${VERSION}`, join(dataDir, "database"), async (folder) => {
    const maker = await Deno.makeTempDir({ prefix });
    try {
      await (await openEmbedded(maker)).close();
      copyFolder(join(maker, "database"), folder);
    } finally {
      await Deno.remove(maker, { recursive: true });
    }
  });
  return dataDir;
}
