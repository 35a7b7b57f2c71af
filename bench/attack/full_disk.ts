import { join } from "node:path";
import { pause } from "../../tests/support/server_process.ts";
import type { Attack, Field } from "./ground.ts";

const CHUNK = new Uint8Array(2 ** 20);

/** Writes until nothing more fits. @returns the file that fills the disk */
async function fill(folder: string): Promise<string> {
  const path = join(folder, "filler");
  const file = await Deno.open(path, { create: true, write: true });
  try {
    for (let size = CHUNK.length; size >= 1; size = Math.floor(size / 2)) {
      try {
        for (;;) await file.write(CHUNK.subarray(0, size));
      } catch {
        // It is too much: a smaller piece may fit.
      }
    }
  } finally {
    file.close();
  }
  return path;
}

async function readiness(url: string): Promise<string> {
  try {
    const reply = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    await reply.body?.cancel();
    return String(reply.status);
  } catch {
    return "no reply";
  }
}

/** A database server that ended is started again, as its supervisor does. */
async function supervise({ cluster, progress }: Field): Promise<string> {
  if (cluster === null) return "";
  try {
    cluster.pid;
    return "";
  } catch {
    progress("PostgreSQL has ended and is started again");
    await cluster.start();
    return "; PostgreSQL had ended by itself";
  }
}

async function fillAndFree(field: Field): Promise<string> {
  const path = await fill(field.folder);
  field.progress("full");
  await pause(field.short ? 8_000 : 45_000);
  const ready = await readiness(field.url);
  await Deno.remove(path);
  return `/readyz ${ready} while full${await supervise(field)}`;
}

/** The disk of the database is full, and is freed again. */
export const FULL_DISK: Attack = {
  name: "full_disk",
  engines: ["postgres", "embedded"],
  diskMebibytes: 400,
  run: fillAndFree,
};
