import { join } from "node:path";

/**
 * The content of the file by which commands reach a running server that has the embedded database open: its
 * address, and a token that may do everything and is valid until the server ends. Only the file's owner may
 * read it.
 */
export interface Control {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
}

const pathOf = (dataDir: string) => join(dataDir, "control.json");

export async function writeControlFile(
  dataDir: string,
  control: { readonly url: string; readonly token: string },
): Promise<void> {
  const path = pathOf(dataDir);
  const fresh = `${path}.${Deno.pid}`;
  const text = JSON.stringify({ pid: Deno.pid, ...control } satisfies Control);
  await Deno.writeTextFile(fresh, text, { mode: 0o600 });
  await Deno.rename(fresh, path);
}

/** Reads the control file; null: there is none. */
export async function readControlFile(dataDir: string): Promise<Control | null> {
  try {
    return JSON.parse(await Deno.readTextFile(pathOf(dataDir))) as Control;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

export async function removeControlFile(dataDir: string): Promise<void> {
  try {
    await Deno.remove(pathOf(dataDir));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
