import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import manifest from "../../deno.json" with { type: "json" };
import { checksum, type Migration } from "./migrate.ts";

/**
 * The template of a database cluster, in one file. It is unpacked in tenths of a second; initdb and all
 * migrations would take seconds and hundreds of megabytes. It is built with the bundles, and its name
 * depends on the engine's version and the migrations, so no program finds the template of another.
 */

interface Contents {
  /** Outer folders before the folders in them. */
  readonly folders: readonly string[];
  /** Each with its length, and the length without the zeros at its end: only that part is stored. */
  readonly files: readonly (readonly [path: string, bytes: number, kept: number])[];
}

/** Raised with every change of the template's format. */
const FORMAT = "1";
const ENGINE = manifest.imports["@electric-sql/pglite"];
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const HEAD_BYTES = 4;
const HASH_BYTES = 32;

/** Returns where the template of a cluster with these migrations is, if it has been built. */
export function templateUrl(migrations: readonly Migration[]): URL {
  const parts = [FORMAT, ENGINE, ...migrations.map((migration) => checksum(migration))];
  const name = sha256(parts.join("\n")).toString("hex", 0, 16);
  return new URL(`../../dist/database/${name}`, import.meta.url);
}

function sha256(content: string | Uint8Array): Buffer {
  return createHash("sha256").update(content).digest();
}

function contentsOf(root: string, folder = ""): Contents {
  const folders: string[] = [];
  const files: [string, number, number][] = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const below = contentsOf(root, path);
      folders.push(path, ...below.folders);
      files.push(...below.files as [string, number, number][]);
    } else {
      const bytes = readFileSync(join(root, path));
      files.push([path, bytes.length, bytes.findLastIndex((byte) => byte !== 0) + 1]);
    }
  }
  return { folders, files };
}

/** Packs a closed cluster into a template. */
export function packCluster(folder: string): Uint8Array<ArrayBuffer> {
  const contents = contentsOf(folder);
  const head = new TextEncoder().encode(JSON.stringify(contents));
  const parts = contents.files.map(([path, , kept]) =>
    readFileSync(join(folder, path)).subarray(0, kept)
  );
  const bytes = parts.reduce((sum, { length }) => sum + length, HEAD_BYTES + head.length);
  const all = new Uint8Array(bytes);
  new DataView(all.buffer).setUint32(0, head.length);
  all.set(head, HEAD_BYTES);
  let at = HEAD_BYTES + head.length;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  const params = { [constants.ZSTD_c_compressionLevel]: 12 };
  const packed = zstdCompressSync(all, { params });
  return Uint8Array.from(Buffer.concat([sha256(packed), packed]));
}

/** Reads and decompresses a template; null: there is none, or it cannot be read. */
function readTemplate(path: string): Uint8Array | null {
  try {
    const bytes = readFileSync(path);
    const packed = bytes.subarray(HASH_BYTES);
    const isWhole = sha256(packed).equals(bytes.subarray(0, HASH_BYTES));
    return isWhole ? zstdDecompressSync(packed) : null;
  } catch {
    return null;
  }
}

/**
 * Writes the cluster of the template at `path` into `folder`, without a sync.
 * @returns false: there is no template, or it cannot be read
 */
export function unpackCluster(path: string, folder: string): boolean {
  const all = readTemplate(path);
  if (all === null) return false;
  const head = new DataView(all.buffer, all.byteOffset).getUint32(0);
  let at = HEAD_BYTES + head;
  const contents: Contents = JSON.parse(new TextDecoder().decode(all.subarray(HEAD_BYTES, at)));
  for (const below of contents.folders) mkdirSync(join(folder, below), { mode: FOLDER_MODE });
  for (const [name, bytes, kept] of contents.files) {
    const content = kept === bytes ? all.subarray(at, at + kept) : new Uint8Array(bytes);
    if (kept < bytes) content.set(all.subarray(at, at + kept));
    writeFileSync(join(folder, name), content, { mode: FILE_MODE });
    at += kept;
  }
  return true;
}
