import { IMPORTED_SOURCES } from "../imported/imported_sums.ts";
import { isSourceName, SOURCE_NAMES } from "../importers/sources.ts";
import { type Call, UsageMistake } from "./command.ts";

/** What `--from PRODUCT` runs. @returns the exit code */
type Import = (call: Call) => Promise<number>;

/** Every product that `--from` may name. */
export const PRODUCTS: readonly string[] = [...new Set([...SOURCE_NAMES, ...IMPORTED_SOURCES])]
  .toSorted();

const isOfSums = (product: string) => IMPORTED_SOURCES.some((known) => known === product);

/** GoatCounter exports page views one by one, and sums: which of them, the files tell. */
async function importEither(call: Call): Promise<number> {
  const { holdsGoatCounterSums } = await import("../importers/sums/sum_sources.ts");
  const { importFrom, openFiles } = await import("./import_from.ts");
  const { importSums } = await import("./import_sums.ts");
  const isSums = call.options.flag("remove") ||
    await holdsGoatCounterSums(await openFiles(call.words));
  return await (isSums ? importSums : importFrom)(call);
}

/** What imports from a product. Throws UsageMistake for one that nobody knows. */
export async function importOf(product: string): Promise<Import> {
  if (isSourceName(product)) {
    return isOfSums(product) ? importEither : (await import("./import_from.ts")).importFrom;
  }
  if (isOfSums(product)) return (await import("./import_sums.ts")).importSums;
  throw new UsageMistake(`--from must be one of ${PRODUCTS.join(", ")}.`);
}
