/** An identity provider's key set, to be changed. */
export interface KeyServer {
  readonly url: string;
  keys: unknown;
  /** How often it has been fetched. */
  fetches: number;
  status: number;
  close(): Promise<void>;
}

export function serveKeys(keys: unknown): KeyServer {
  const state = { keys, fetches: 0, status: 200 };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    state.fetches++;
    return Response.json({ keys: state.keys }, { status: state.status });
  });
  const url = `http://127.0.0.1:${server.addr.port}/keys`;
  return Object.assign(state, { url, close: () => server.shutdown() });
}
