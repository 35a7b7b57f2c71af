import type { Terminal } from "../../src/cli/terminal.ts";

/** A terminal that remembers what was written to it. */
export class CapturedTerminal implements Terminal {
  written = "";
  errors = "";
  readonly #decoder = new TextDecoder();

  constructor(readonly outIsTerminal = false, readonly errorIsTerminal = false) {}

  out = (text: string | Uint8Array): void => {
    this.written += typeof text === "string" ? text : this.#decoder.decode(text, { stream: true });
  };
  error = (text: string): void => {
    this.errors += text;
  };
  columns = () => 80;
}
