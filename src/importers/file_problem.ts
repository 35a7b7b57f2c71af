/** A file that cannot be read any further. The message is a sentence for whoever chose the file. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";

  constructor(
    /** As the file is known to people, `archive.zip › events.json` inside of an archive. */
    readonly file: string,
    message: string,
    /** From 1; null where lines tell nothing. */
    readonly line: number | null = null,
  ) {
    super(line === null ? `${file}: ${message}` : `${file}, line ${line}: ${message}`);
  }
}
