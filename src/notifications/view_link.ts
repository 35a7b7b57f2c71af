import { viewAddress } from "../reports/answer/view_address.ts";

/** A read of the API, which the dashboard can show. */
export interface ViewPlace {
  /** The path of the endpoint. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** As the reply resolved them. */
  readonly query: Readonly<Record<string, unknown>>;
}

/** Returns a link to the view of a read. `address`: the dashboard's URL, without a slash at the end. */
export function viewLink(address: string, { path, params, query }: ViewPlace): string {
  const asked = new URLSearchParams(params);
  // Asked for the fewest buckets; the view shows the default interval.
  asked.delete("interval", "month");
  return `${address}/?${viewAddress(path, asked, query)}`;
}
