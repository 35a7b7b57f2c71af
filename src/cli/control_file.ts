import { join } from "node:path";

/**
 * How commands reach a running server whose embedded database only it may open: its address, and a
 * token that does everything and dies with it. Readable by its owner alone.
 */
export interface Control {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
}

const pathOf = (dataDir: string) => join(dataDir, "control.json");

export async function leaveControlFile(
  dataDir: string,
  control: { readonly url: string; readonly token: string },
): Promise<void> {
  const path = pathOf(dataDir);
  const fresh = `${path}.${Deno.pid}`;
  const text = JSON.stringify({ pid: Deno.pid, ...control } satisfies Control);
  await Deno.writeTextFile(fresh, text, { mode: 0o600 });
  await Deno.rename(fresh, path);
}

/** Null where no server left one. */
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
