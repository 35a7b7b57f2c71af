const HTTP_PORT = 80;

/**
 * Makes a client for `fetch` that connects to this address directly. Otherwise `fetch` uses the proxy that
 * HTTP_PROXY or ALL_PROXY names, even for loopback, and the proxy would see the local server's token.
 */
export function directClient(url: string): Deno.HttpClient {
  const { hostname, port } = new URL(url);
  return Deno.createHttpClient({
    proxy: { transport: "tcp", hostname, port: Number(port || HTTP_PORT) },
  });
}

/** Returns the reply of the server at this address, without reading its body; null: no server answers. */
export async function headOf(url: string): Promise<Response | null> {
  using client = directClient(url);
  const reply = await fetch(url, { client }).catch(() => null);
  await reply?.body?.cancel();
  return reply;
}
