import { HOST } from "./request_address.ts";
import { isTrustedPeer, type TrustedProxies } from "./client_address.ts";

/** Where people find this server, as a request tells. */
export interface OwnAddress {
  /** `https://stats.example.com/analytics`: the base path included, no slash at the end. */
  readonly url: string;
  /** Whether people's browsers are known to come by https. */
  readonly isHttps: boolean;
}

export interface OwnAddressOptions {
  /** What the operator says, without a slash at the end; null: nothing. */
  readonly publicUrl: string | null;
  readonly basePath: string;
  readonly trustedProxies: TrustedProxies;
}

const first = (list: string | null) => list?.split(",")[0]?.trim() ?? "";

/**
 * A function that says where the page of a request stands: what `PUBLIC_URL` says, else what
 * X-Forwarded-Proto and X-Forwarded-Host of a trusted proxy say, else what the client asked for.
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
    // As URL writes it: in lower case, and without the port that the scheme has anyway.
    const origin = URL.parse(`${scheme}://${named}`)?.origin ?? asked.origin;
    return { url: origin + basePath, isHttps: scheme === "https" };
  };
}

/** Where a request came from: a page of ours, one of another origin, or nobody says (no browser). */
export type Origin = "own" | "foreign" | "unknown";

/**
 * What the browser says of the page that sent a request. `Sec-Fetch-Site` is its own judgement, which
 * no page can write and no proxy changes. Browsers send it to https and localhost alone, so elsewhere
 * `Origin` is compared with where the request went.
 */
export function originOf(request: Request, own: OwnAddress): Origin {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" ? "own" : "foreign";
  const origin = request.headers.get("origin");
  if (origin === null) return "unknown";
  const page = URL.parse(origin);
  if (page === null || !/^https?:$/.test(page.protocol)) return "foreign";
  // A proxy that nobody told us of may have taken the s of https away, but never adds one.
  if (own.isHttps && page.protocol !== "https:") return "foreign";
  const asked = new URL(request.url).host;
  const hosts = [new URL(own.url).host, request.headers.get("host") ?? asked];
  return hosts.some((host) => URL.parse(`${page.protocol}//${host}`)?.host === page.host)
    ? "own"
    : "foreign";
}
