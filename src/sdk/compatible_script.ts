/// <reference lib="dom" />
import { createAnalytics } from "./analytics.ts";
import type { Analytics } from "./sdk.d.ts";
import { installShims } from "./shims.ts";

/** What Plausible's snippet leaves at `window`, with the options that `init` was given. */
interface PlausibleStub {
  readonly o?: { readonly autoCapturePageviews?: boolean };
}

/**
 * The script tag of Umami's and Plausible's pages: the SDK, with their functions beside it.
 * `data-website-id` or `data-api-key` is a key, and so is `pa-…` in the name of the file; `data-domain` is
 * a key, or the host of a project's site, several with commas between them.
 */
const tag = document.currentScript as HTMLScriptElement | null;
const source = tag?.src ?? "";
const data = tag?.dataset ?? {};

/** Whether the visitor or the page asks for no recording here. */
function isSilent(): boolean {
  const { domains, doNotTrack } = data;
  if (domains && !domains.split(/\s*,\s*/).includes(location.hostname)) return true;
  if (doNotTrack === "true" && navigator.doNotTrack === "1") return true;
  try {
    return !!localStorage["umami.disabled"] || localStorage.plausible_ignore === "true";
  } catch {
    return false;
  }
}

function keys(): string[] {
  const { apiKey, websiteId, domain } = data;
  const key = apiKey ?? websiteId ?? /pa-[\w-]+/.exec(source.split("/js/")[1]!)?.[0];
  if (isSilent() || !(key || domain)) return [""];
  return key ? [key] : domain!.trim().split(/\s*,\s*/).map((name) => `site:${name}`);
}

/** Returns an event as the tag's attributes ask for it, and values within an event unchanged. */
// deno-lint-ignore no-explicit-any -- an event of ours, or something in it
function told(name: string, event: any): unknown {
  if (!name && event?.url) {
    event.properties = { tag: data.tag, ...event.properties };
    for (const key of ["url", "referrer"]) {
      if (data.excludeSearch === "true") event[key] = event[key]?.replace(/\?[^#]*/, "");
      if (data.excludeHash === "true") event[key] = event[key]?.replace(/#.*/, "");
    }
  }
  return event;
}

const isAuto = data.autocapture !== "false" && data.autoTrack !== "false";
const page = window as { footfall?: Analytics; plausible?: PlausibleStub };
const isManual = /\.manual\./.test(source) || page.plausible?.o?.autoCapturePageviews === false;
const clients = keys().map((apiKey) =>
  createAnalytics({
    apiKey,
    endpoint: data.endpoint ?? data.hostUrl ?? data.api?.replace(/\/api\/event$/, "/") ??
      source.replace(/(\/js)?\/[^/?#]*([?#].*)?$/, "") + "/",
    debug: (data.debug ?? "false") !== "false",
    autocapture: isAuto && { pageViews: !isManual },
    told,
  })
);
if (!page.footfall?.track) page.footfall = clients[0]!;
installShims(clients);
