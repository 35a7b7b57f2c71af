import { join } from "node:path";

const IS_ROOT = Deno.uid() === 0;
/** Others than root ask sudo, which must not ask for a password. */
const SUDO = ["sudo", "-n"];

function mayUseSudo(): boolean {
  try {
    const [sudo, ...args] = [...SUDO, "true"];
    return new Deno.Command(sudo!, { args, stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

/** Whether this user may mount a disk in memory. In CI it must. */
export const canMount = Deno.build.os === "linux" && (IS_ROOT || mayUseSudo());

export interface SmallDisk extends AsyncDisposable {
  readonly folder: string;
  /** Leaves no byte free, or so many. */
  fill(leftBytes?: number): Promise<void>;
  /** Takes back what `fill` took. */
  free(): Promise<void>;
}

async function runAsRoot(...words: string[]): Promise<void> {
  const [command, ...args] = [...IS_ROOT ? [] : SUDO, ...words];
  const { success, stderr } = await new Deno.Command(command!, { args }).output();
  if (!success) throw new Error(`${words[0]}: ${new TextDecoder().decode(stderr)}`);
}

/** A disk of so many MiB, in memory. */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-disk-" });
  await runAsRoot("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder);
  const filler = join(folder, "filler");
  return {
    folder,
    async fill(leftBytes = 0) {
      using file = await Deno.open(filler, { write: true, create: true, append: true });
      const bytes = new Uint8Array(2 ** 20);
      for (let size = bytes.length; size > 0;) {
        try {
          await file.write(bytes.subarray(0, size));
        } catch {
          size >>= 1;
        }
      }
      await file.truncate(Math.max(0, (await file.stat()).size - leftBytes));
    },
    free: () => Deno.remove(filler),
    async [Symbol.asyncDispose]() {
      // Whatever still has a file there open does not fail the test.
      await runAsRoot("umount", "--lazy", folder);
      await Deno.remove(folder);
    },
  };
}
