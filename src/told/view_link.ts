import { viewAddress } from "../reports/answer/view_address.ts";

/** A read as it was asked and as it was understood: where the dashboard shows the same. */
export interface ToldPlace {
  /** Of the API. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** As the reply resolved them. */
  readonly query: Readonly<Record<string, unknown>>;
}

/** A link to the view of a read. `address`: where the dashboard stands, without a slash at the end. */
export function viewLink(address: string, { path, params, query }: ToldPlace): string {
  const asked = new URLSearchParams(params);
  // Asked for one bucket: whoever looks sees the course.
  asked.delete("interval", "month");
  return `${address}/?${viewAddress(path, asked, query)}`;
}
