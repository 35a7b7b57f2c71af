import { join } from "node:path";

/** Whether this user may mount a disk in memory. In CI it must. */
export const canMount = Deno.build.os === "linux" && Deno.uid() === 0;

export interface SmallDisk extends AsyncDisposable {
  readonly folder: string;
  /** Leaves no byte free, or so many. */
  fill(leftBytes?: number): Promise<void>;
  /** Takes back what `fill` took. */
  free(): Promise<void>;
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr)}`);
}

/** A disk of so many MiB, in memory. */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-disk-" });
  await run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder);
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
      await run("umount", folder);
      await Deno.remove(folder);
    },
  };
}
