const HTTP_PORT = 80;

/**
 * A client for `fetch` that connects to this address itself. Without it `fetch` goes through the proxy that
 * HTTP_PROXY or ALL_PROXY names, loopback included, which would be shown the token of a server beside it.
 */
export function directClient(url: string): Deno.HttpClient {
  const { hostname, port } = new URL(url);
  return Deno.createHttpClient({
    proxy: { transport: "tcp", hostname, port: Number(port || HTTP_PORT) },
  });
}

/** Whether a server answers at this address, and with what head; null: none does. Nothing of a body is read. */
export async function headOf(url: string): Promise<Response | null> {
  using client = directClient(url);
  const reply = await fetch(url, { client }).catch(() => null);
  await reply?.body?.cancel();
  return reply;
}
