/** Returns how many files could be opened now, up to `most`; null if this cannot be tried. */
export function descriptorsFree(most: number): number | null {
  const opened: Deno.FsFile[] = [];
  try {
    while (opened.length < most) opened.push(Deno.openSync("/dev/null"));
    return most;
  } catch (error) {
    return opened.length > 0 || (error as { code?: string }).code === "EMFILE"
      ? opened.length
      : null;
  } finally {
    for (const file of opened) file.close();
  }
}
