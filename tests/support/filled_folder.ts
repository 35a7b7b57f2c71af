import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TestApp } from "./app.ts";
import { makeDataDir } from "./embedded_template.ts";
import { copyFolder, copyTemplate } from "./folder_template.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
/** What a stored event depends on: the program, and what tests send to it. */
const SOURCES = ["deno.lock", "migrations", "src", "tests"];

/**
 * Makes `target`, which must not exist, a DATA_DIR as a server leaves it in which `fill` was done:
 * once for each `key` and state of the sources, else it is copied.
 */
export async function copyFilled(
  target: string,
  { kind, key, fill }: { kind: string; key: string; fill: (server: TestApp) => Promise<void> },
): Promise<void> {
  await copyTemplate(kind, `${sourcesKey()}-${key}`, target, async (folder) => {
    const dataDir = await makeDataDir("footfall-filled-");
    try {
      const server = await new TestApp({ DATA_DIR: dataDir }).start();
      try {
        await fill(server);
      } finally {
        await server.stop();
      }
      copyFolder(dataDir, folder);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  });
}

/** Changes with every file of the sources that is written anew. */
function sourcesKey(): string {
  const told = SOURCES.flatMap((name) => toldOf(join(REPOSITORY, name)));
  return createHash("sha256").update(told.join("\n")).digest("hex").slice(0, 16);
}

function toldOf(path: string): string[] {
  const { isDirectory, size, mtime } = Deno.statSync(path);
  if (!isDirectory) return [`${path} ${size} ${mtime?.getTime()}`];
  const names = [...Deno.readDirSync(path)].map(({ name }) => name).sort();
  return names.flatMap((name) => toldOf(join(path, name)));
}
