/// <reference lib="dom" />
import { cut } from "./page.ts";
import type { Record } from "./record.ts";

const FILE = /\.(pdf|zip|t?gz|rar|7z|dmg|exe|msi|pkg|(doc|xls|ppt)x?|csv|txt|epub|mp[34])$/i;

/** `outbound_link` and `file_download`, with the address but neither its query nor its fragment. */
export function recordLink(record: Record, link?: HTMLAnchorElement): void {
  // No link, one within a drawing, and an address that cannot be read have no such protocol.
  if (!/^http/.test(link?.protocol as string)) return;
  const url = cut(link!.origin + link!.pathname);
  if (link!.hasAttribute("download") || FILE.test(url)) record("file_download", { url });
  else if (link!.host !== location.host) record("outbound_link", { url });
}
