/// <reference lib="dom" />
import { cut } from "./page.ts";
import type { Record } from "./record.ts";

const FILE = /\.(pdf|zip|t?gz|rar|7z|dmg|exe|msi|pkg|(doc|xls|ppt)x?|csv|txt|epub|mp[34])$/i;

/** `outbound_link` and `file_download`, with the address but neither its query nor its fragment. */
export function recordLink(record: Record, link?: HTMLAnchorElement | SVGAElement): void {
  if (!link) return;
  // In SVG `href` is an object, which has the address as the page wrote it.
  const { href, origin, pathname, host } = new URL(
    (link as SVGAElement).href.baseVal ?? link.href,
    link.baseURI,
  );
  if (!/^http/.test(href)) return;
  const url = cut(origin + pathname);
  if (link.hasAttribute("download") || FILE.test(url)) record("file_download", { url });
  else if (host !== location.host) record("outbound_link", { url });
}
