/** Returns the addresses of a host name, as the system resolves it and in its order. */
export async function resolveHost(host: string): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address);
}
