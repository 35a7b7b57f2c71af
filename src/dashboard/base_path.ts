/// <reference lib="dom" />

function readBasePath(): string {
  const meta = globalThis.document?.querySelector<HTMLMetaElement>("meta[name=footfall-base]");
  return meta?.content.replace(/\/+$/, "") ?? "";
}

/** The path of the deployment on its host, such as `/analytics`; empty at the root. */
export const BASE_PATH = readBasePath();
