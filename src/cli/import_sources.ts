import { isSourceName, SOURCE_NAMES } from "../importers/sources.ts";
import { type Call, UsageMistake } from "./command.ts";

/** What `--from PRODUCT` runs. @returns the exit code */
type Import = (call: Call) => Promise<number>;

/** Products of which daily sums are imported, and no single events. */
const OF_SUMS: Readonly<Record<string, () => Promise<Import>>> = {};

/** Every product that `--from` may name. */
export const PRODUCTS: readonly string[] = [...SOURCE_NAMES, ...Object.keys(OF_SUMS)].toSorted();

/** What imports from a product. Throws UsageMistake for one that nobody knows. */
export async function importOf(product: string): Promise<Import> {
  if (isSourceName(product)) return (await import("./import_from.ts")).importFrom;
  const load = Object.hasOwn(OF_SUMS, product) ? OF_SUMS[product] : undefined;
  if (load !== undefined) return await load();
  throw new UsageMistake(`--from must be one of ${PRODUCTS.join(", ")}.`);
}
