/** Addresses of a name, in the order and as the system knows them. */
export async function resolveHost(host: string): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address);
}
