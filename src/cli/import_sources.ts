import { IMPORTED_SOURCES } from "../imported/imported_sums.ts";
import { isSourceName, SOURCE_NAMES } from "../importers/sources.ts";
import { type Call, UsageMistake } from "./command.ts";

/** Runs `--from PRODUCT`. @returns the exit code */
type Import = (call: Call) => Promise<number>;

/** All products that `--from` may name. */
export const PRODUCTS: readonly string[] = [...new Set([...SOURCE_NAMES, ...IMPORTED_SOURCES])]
  .toSorted();

const isOfSums = (product: string) => IMPORTED_SOURCES.some((known) => known === product);

/** Imports from GoatCounter, which exports single page views or sums: the files show which. */
async function importEither(call: Call): Promise<number> {
  const { areGoatCounterSums } = await import("../importers/sums/sum_sources.ts");
  const { importFrom, openFiles } = await import("./import_from.ts");
  const { importSums } = await import("./import_sums.ts");
  const isSums = call.options.flag("remove") ||
    await areGoatCounterSums(await openFiles(call.words));
  return await (isSums ? importSums : importFrom)(call);
}

/** Returns the import for a product. Throws UsageMistake for an unknown one. */
export async function importOf(product: string): Promise<Import> {
  if (isSourceName(product)) {
    return isOfSums(product) ? importEither : (await import("./import_from.ts")).importFrom;
  }
  if (isOfSums(product)) return (await import("./import_sums.ts")).importSums;
  throw new UsageMistake(`--from must be one of ${PRODUCTS.join(", ")}.`);
}
