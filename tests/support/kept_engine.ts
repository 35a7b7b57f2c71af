let kept: Promise<WebAssembly.Module> | null = null;

/**
 * Keeps the embedded engine's compiled code, for all engines that this process starts from now on:
 * compiling it is most of what a start takes.
 */
export async function keepEngine(): Promise<void> {
  kept ??= import("../../src/db/embedded_start.ts").then(({ compileEngine }) => compileEngine());
  await kept;
}
