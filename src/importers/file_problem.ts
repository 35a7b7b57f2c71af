/** Thrown for a file that cannot be read any further. The message is a sentence for the person who chose it. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";

  constructor(
    /** The file's name for people, such as `archive.zip › events.json` inside of an archive. */
    readonly file: string,
    message: string,
    /** From 1; null: the whole file. */
    readonly line: number | null = null,
  ) {
    super(line === null ? `${file}: ${message}` : `${file}, line ${line}: ${message}`);
  }
}
