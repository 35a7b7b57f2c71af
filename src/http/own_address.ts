import { HOST } from "./request_address.ts";
import { isTrustedPeer, type TrustedProxies } from "./client_address.ts";

/** The address at which people reach this server, as a request shows it. */
export interface OwnAddress {
  /** `https://stats.example.com/analytics`: the base path included, no slash at the end. */
  readonly url: string;
  /** Whether browsers are known to connect by https. */
  readonly isHttps: boolean;
}

export interface OwnAddressOptions {
  /** The address that the operator set, without a slash at the end; null: none. */
  readonly publicUrl: string | null;
  readonly basePath: string;
  readonly trustedProxies: TrustedProxies;
}

const first = (list: string | null) => list?.split(",")[0]?.trim() ?? "";

/**
 * Makes a function that returns the server's address for a request: `PUBLIC_URL`, else the address in
 * X-Forwarded-Proto and X-Forwarded-Host of a trusted proxy, else the address that the client requested.
 */
export function createOwnAddress(
  { publicUrl, basePath, trustedProxies }: OwnAddressOptions,
): (request: Request, peer: string | null) => OwnAddress {
  return (request, peer) => {
    if (publicUrl !== null) return { url: publicUrl, isHttps: publicUrl.startsWith("https:") };
    const isTrusted = isTrustedPeer(trustedProxies, peer);
    const header = (name: string) => isTrusted ? first(request.headers.get(name)) : "";
    const asked = new URL(request.url);
    const proto = header("x-forwarded-proto").toLowerCase();
    const scheme = proto === "https" || proto === "http" ? proto : asked.protocol.slice(0, -1);
    const forwarded = header("x-forwarded-host");
    const named = forwarded !== "" && HOST.test(forwarded)
      ? forwarded
      : request.headers.get("host") ?? asked.host;
    // URL writes the host in lower case and drops the default port of the scheme.
    const origin = URL.parse(`${scheme}://${named}`)?.origin ?? asked.origin;
    return { url: origin + basePath, isHttps: scheme === "https" };
  };
}

/** The origin of the page that sent a request: our own, a foreign one, or unknown (not sent by a browser). */
export type Origin = "own" | "foreign" | "unknown";

/**
 * Returns the origin of the page that sent a request, as the browser says. The browser itself sets
 * `Sec-Fetch-Site`; no page can write it and no proxy changes it. Browsers send it only to https and
 * localhost, so otherwise `Origin` is compared with the address that the request went to.
 */
export function originOf(request: Request, own: OwnAddress): Origin {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" ? "own" : "foreign";
  const origin = request.headers.get("origin");
  if (origin === null) return "unknown";
  const page = URL.parse(origin);
  if (page === null || !/^https?:$/.test(page.protocol)) return "foreign";
  // A proxy that is not configured may turn https into http, but never http into https.
  if (own.isHttps && page.protocol !== "https:") return "foreign";
  const asked = new URL(request.url).host;
  const hosts = [new URL(own.url).host, request.headers.get("host") ?? asked];
  return hosts.some((host) => URL.parse(`${page.protocol}//${host}`)?.host === page.host)
    ? "own"
    : "foreign";
}
