import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import lock from "../../deno.lock" with { type: "text" };
import { templateUrl, unpackCluster } from "../../src/db/cluster_template.ts";
import { openEmbedded } from "../../src/db/embedded.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { copyFolder, copyTemplate } from "./folder_template.ts";

const VERSION = /"npm:@electric-sql\/pglite@\S*": "([^"]+)"/.exec(lock)?.[1] ?? "unknown";
const TEMPLATE = fileURLToPath(templateUrl(MIGRATIONS));

/** Names what a database of this program's schema is made by: its migrations, all of their text. */
export const SCHEMA_KEY = basename(TEMPLATE);

/** A new folder for DATA_DIR with a database as a first start makes it: empty, of the present schema. */
export async function makeDataDir(prefix: string): Promise<string> {
  const dataDir = await Deno.makeTempDir({ prefix });
  await copyTemplate("embedded", SCHEMA_KEY, join(dataDir, "database"), (folder) => {
    const isMade = existsSync(TEMPLATE) && unpackCluster(TEMPLATE, folder);
    if (!isMade) throw new Error("There is no template of a database: run `deno task bundles`");
    return Promise.resolve();
  });
  return dataDir;
}

/** A new folder for DATA_DIR in which the embedded engine finds its cluster made, without a schema. */
export async function makeBareDataDir(prefix: string): Promise<string> {
  const dataDir = await Deno.makeTempDir({ prefix });
  await copyTemplate("bare", VERSION, join(dataDir, "database"), async (folder) => {
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
