import { FileProblem } from "./file_problem.ts";
import { ROWS_LOOKED_AT } from "./importer_limits.ts";
import type { InputFile } from "./input_file.ts";
import type { Members } from "./json_rows.ts";
import type { ImportSource, SourceName } from "./source.ts";

/** Products whose events are imported one by one; each is loaded on demand. */
const LOADERS: Readonly<Record<SourceName, () => Promise<ImportSource>>> = {
  umami: async () => (await import("./umami/source.ts")).UMAMI,
  posthog: async () => (await import("./posthog/source.ts")).POSTHOG,
  amplitude: async () => (await import("./amplitude/source.ts")).AMPLITUDE,
  mixpanel: async () => (await import("./mixpanel/source.ts")).MIXPANEL,
  ga4: async () => (await import("./ga4/source.ts")).GA4,
  matomo: async () => (await import("./matomo/source.ts")).MATOMO,
  goatcounter: async () => (await import("./goatcounter/source.ts")).GOATCOUNTER,
};

export const SOURCE_NAMES = Object.keys(LOADERS) as readonly SourceName[];

export function isSourceName(name: string): name is SourceName {
  return Object.hasOwn(LOADERS, name);
}

export async function loadSource(name: SourceName): Promise<ImportSource> {
  return await LOADERS[name]();
}

/** Other files that are recognised by their rows, with advice. */
const OTHERS: readonly (readonly [(row: Members) => boolean, string])[] = [
  [
    (row) => "eventId" in row && "name" in row && "timestamp" in row,
    "It looks like an export of Footfall: import it without `--from`.",
  ],
  [
    (row) => "date" in row && ("visitors" in row || "pageviews" in row),
    "It looks like daily sums, as Plausible's: say `--from plausible`.",
  ],
];

/** Returns advice for a row of another product; null: it is of no known one. */
export async function otherSource(row: Members): Promise<string | null> {
  for (const name of SOURCE_NAMES) {
    const source = await loadSource(name);
    if (source.recognises(row)) {
      return `It looks like a file of ${source.title}: say \`--from ${source.name}\`.`;
    }
  }
  return OTHERS.find(([recognises]) => recognises(row))?.[1] ?? null;
}

/** Returns the product of a file, by the first row that can be read; null: unknown. */
export async function sourceOfFile(file: InputFile): Promise<ImportSource | null> {
  for (const name of SOURCE_NAMES) {
    const source = await loadSource(name);
    if (await beginsLike(file, source)) return source;
  }
  return null;
}

async function beginsLike(file: InputFile, source: ImportSource): Promise<boolean> {
  let looked = 0;
  try {
    for await (
      const batch of source.rows([file], { read: () => {}, fileBegins: () => {} })
    ) {
      const row = batch.find((each) => "value" in each);
      if (row !== undefined) return "value" in row && source.recognises(row.value);
      // An empty batch, such as one of blank lines, counts as a row, so that the search ends.
      looked += Math.max(1, batch.length);
      if (looked >= ROWS_LOOKED_AT) return false;
    }
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
  }
  return false;
}
