import { join } from "node:path";

const pathOf = (dataDir: string) => join(dataDir, "first-sign-in");

/**
 * Leaves the link that signs in where its owner alone can read it: a log is read by others, and kept.
 * @returns the file's path
 */
export async function leaveSignInFile(dataDir: string, link: string): Promise<string> {
  const path = pathOf(dataDir);
  const fresh = `${path}.${Deno.pid}`;
  await Deno.mkdir(dataDir, { recursive: true });
  await Deno.writeTextFile(fresh, `${link}\n`, { mode: 0o600 });
  await Deno.rename(fresh, path);
  return path;
}

export async function removeSignInFile(dataDir: string): Promise<void> {
  try {
    await Deno.remove(pathOf(dataDir));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
