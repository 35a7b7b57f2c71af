const PAGE = new URL("../../docs/recording.md", import.meta.url);
const PRINTED_SERVER = "http://localhost:8000";

/**
 * The files that docs/recording.md prints, by the name in their first line (`// vite.config.ts`).
 * Word for word, but for the address of the server.
 */
export async function recipeTexts(server: string): Promise<ReadonlyMap<string, string>> {
  const page = await Deno.readTextFile(PAGE);
  const blocks = page.matchAll(/^```\w+\n\/\/ (\S+)\n([\s\S]*?)^```$/gm);
  return new Map(
    Array.from(
      blocks,
      ([, name = "", text = ""]) => [name, text.replaceAll(PRINTED_SERVER, server)],
    ),
  );
}
