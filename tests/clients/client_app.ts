import type { Json, Reply, TestApp, TestProject } from "../support/app.ts";
import { CHROME, PUBLIC_PEER } from "../support/app.ts";

/** What a browser's or server's library sends. */
export interface Sent {
  readonly path: string;
  readonly body: BodyInit | null;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** Sends a request as it is, from a desktop browser unless it says otherwise. */
export async function send(server: TestApp, { path, body, method, headers }: Sent): Promise<Reply> {
  const init = { method: method ?? "POST", headers: { "User-Agent": CHROME, ...headers }, body };
  return await server.fetch(path, init, PUBLIC_PEER);
}

export const basic = (key: string) => ({ Authorization: `Basic ${btoa(`${key}:`)}` });

/** A message of Segment's and RudderStack's libraries. */
export function message(said: Json = {}): Json {
  return {
    type: "track",
    event: "Order Completed",
    messageId: `ajs-next-${Date.now()}-${crypto.randomUUID()}`,
    anonymousId: "anon-1",
    timestamp: new Date().toISOString(),
    ...said,
  };
}

/** Posts messages to `/v1/batch` with a public key as Basic user. */
export async function postBatch(
  server: TestApp,
  project: TestProject,
  batch: readonly unknown[],
  { key = project.publicKey, headers = {}, envelope = {} }: {
    readonly key?: string;
    readonly headers?: Record<string, string>;
    readonly envelope?: Json;
  } = {},
): Promise<Reply> {
  return await send(server, {
    path: "/v1/batch",
    headers: { ...basic(key), "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ batch, sentAt: new Date().toISOString(), ...envelope }),
  });
}

const compressed = async (format: CompressionFormat, text: string) =>
  await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream(format)))
    .bytes();

export const gzip = (text: string) => compressed("gzip", text);
export const deflate = (text: string) => compressed("deflate", text);
export const rawDeflate = (text: string) => compressed("deflate-raw", text);
