import type { ImportedSource } from "../../imported/imported_sums.ts";
import type { InputFile } from "../input_file.ts";
import { type BytesRead, type PlainFile, plainFiles } from "../unpacked.ts";
import { GOATCOUNTER_SUMS_FILE } from "./goatcounter_sums.ts";
import type { SumSource } from "./sum_source.ts";

/** Products whose daily sums are imported; each is loaded on demand. */
const LOADERS: Readonly<Record<ImportedSource, () => Promise<SumSource>>> = {
  plausible: async () => (await import("./plausible.ts")).PLAUSIBLE,
  fathom: async () => (await import("./fathom.ts")).FATHOM,
  goatcounter: async () => (await import("./goatcounter_sums.ts")).GOATCOUNTER_SUMS,
};

export async function loadSumSource(name: ImportedSource): Promise<SumSource> {
  return await LOADERS[name]();
}

/** Returns the plain files of all chosen ones. Throws FileProblem for an archive that cannot be read. */
export async function allPlainFiles(
  files: readonly InputFile[],
  read: BytesRead,
): Promise<PlainFile[]> {
  const all: PlainFile[] = [];
  for (const file of files) for await (const plain of plainFiles(file, read)) all.push(plain);
  return all;
}

/** Whether the files are GoatCounter's sums, and not its single page views. */
export async function areGoatCounterSums(files: readonly InputFile[]): Promise<boolean> {
  const all = await allPlainFiles(files, () => {});
  return all.some(({ name }) => name.endsWith(GOATCOUNTER_SUMS_FILE));
}
