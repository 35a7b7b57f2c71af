/** A receiver of webhooks on this machine that keeps what it gets. */
export interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** What it answers from now on. */
  answer: (request: Received) => Response | Promise<Response>;
  close(): Promise<void>;
}

export function startReceiver(tls?: { readonly cert: string; readonly key: string }): Receiver {
  const received: Received[] = [];
  const handler = async (request: Request) => {
    const { pathname } = new URL(request.url);
    const one = { path: pathname, headers: request.headers, body: await request.text() };
    received.push(one);
    return await receiver.answer(one);
  };
  const place = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  const server = Deno.serve({ ...place, ...tls ?? {} }, handler);
  const scheme = tls === undefined ? "http" : "https";
  const receiver: Receiver = {
    url: `${scheme}://127.0.0.1:${server.addr.port}`,
    received,
    answer: () => new Response(null, { status: 204 }),
    close: () => server.shutdown(),
  };
  return receiver;
}

/** Whether a message is signed with the secret, as Standard Webhooks says, by Web Crypto. */
export async function isSigned({ headers, body }: Received, secret: string): Promise<boolean> {
  const raw = Uint8Array.fromBase64(secret.slice("whsec_".length));
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, [
    "verify",
  ]);
  const id = headers.get("webhook-id");
  const text = `${id}.${headers.get("webhook-timestamp")}.${body}`;
  const [version, signature = ""] = headers.get("webhook-signature")!.split(",");
  if (version !== "v1") return false;
  return await crypto.subtle.verify(
    "HMAC",
    key,
    Uint8Array.fromBase64(signature),
    new TextEncoder().encode(text),
  );
}
