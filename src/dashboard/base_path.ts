/// <reference lib="dom" />

function readBasePath(): string {
  const meta = globalThis.document?.querySelector<HTMLMetaElement>("meta[name=footfall-base]");
  return meta?.content.replace(/\/+$/, "") ?? "";
}

/** Where the deployment lives under its host, such as `/analytics`; empty at the root. */
export const BASE_PATH = readBasePath();
