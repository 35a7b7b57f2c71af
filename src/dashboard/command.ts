/// <reference lib="dom" />

function readFootfall(): string {
  const meta = globalThis.document?.querySelector<HTMLMetaElement>("meta[name=footfall-command]");
  return meta?.content || "deno task footfall";
}

const FOOTFALL = readFootfall();

/** A command as the operator types it on the server's machine, such as `token --link`. */
export function commandText(words: string): string {
  return `${FOOTFALL} ${words}`;
}
