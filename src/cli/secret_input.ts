import type { Terminal } from "./terminal.ts";

const ENTER = /[\r\n]/;
const BACKSPACE = /[\u007f\b]/;
const INTERRUPT = "\u0003";
const END = "\u0004";

/** Reads a line from a terminal without showing it. */
async function typedUnseen(terminal: Terminal, prompt: string): Promise<string> {
  terminal.error(prompt);
  Deno.stdin.setRaw(true);
  try {
    let text = "";
    const bytes = new Uint8Array(1024);
    const decoder = new TextDecoder();
    while (true) {
      const count = await Deno.stdin.read(bytes);
      if (count === null) return text;
      for (const character of decoder.decode(bytes.subarray(0, count), { stream: true })) {
        if (ENTER.test(character) || character === END) return text;
        if (character === INTERRUPT) Deno.exit(130);
        text = BACKSPACE.test(character) ? [...text].slice(0, -1).join("") : text + character;
      }
    }
  } finally {
    Deno.stdin.setRaw(false);
    terminal.error("\n");
  }
}

/** Reads the first line of standard input; on a terminal, what is typed is not shown. */
export async function readSecret(terminal: Terminal, prompt: string): Promise<string> {
  if (Deno.stdin.isTerminal()) return await typedUnseen(terminal, prompt);
  const sent = await new Response(Deno.stdin.readable).text();
  return sent.split(/\r?\n/)[0] ?? "";
}
