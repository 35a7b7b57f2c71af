import { join } from "node:path";
import { packCluster } from "./cluster_template.ts";
import { openEmbedded } from "./embedded.ts";
import { migrate, type Migration } from "./migrate.ts";

/** The databases that CREATE DATABASE copies, which is never used. They are two thirds of the files. */
const UNUSED = ["template0", "template1"];

/** Builds the template of a cluster with these migrations. */
export async function buildTemplate(
  migrations: readonly Migration[],
): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-template-" });
  try {
    const database = await openEmbedded(folder);
    try {
      await migrate(database, migrations);
      for (const name of UNUSED) {
        await database.query(`ALTER DATABASE ${name} IS_TEMPLATE false`);
        await database.query(`DROP DATABASE ${name}`);
      }
    } finally {
      await database.close();
    }
    return packCluster(join(folder, "database"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
