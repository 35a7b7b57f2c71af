import { withinDeadline } from "./egress_socket.ts";
import { isOwnNetworkAddress, isPublicAddress } from "./ip_ranges.ts";

/** Why a host must not or cannot be connected to. */
export type RouteRefusal = "blocked_host" | "blocked_address" | "blocked_port" | "unresolved";

export interface RouteOptions {
  readonly site: { readonly host: string; readonly port: number; readonly isLiteral: boolean };
  readonly blockedHosts: (host: string) => boolean;
  readonly resolve: (host: string) => Promise<string[]>;
  readonly resolveMsMax: number;
}

const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
/** These names mean this machine, whatever a resolver says (RFC 6761, 6.3). */
const LOOPBACK_NAME = /(?:^|\.)localhost$/;
const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"];

/** Returns a host without the final dot of an absolute name: `example.com.` becomes `example.com`. */
export function withoutDot(host: string): string {
  return host.replace(/\.$/, "");
}

/** Whether a host, as URL writes it, is an address or `localhost`. */
export function isLiteralHost(host: string): boolean {
  return addressIn(host) !== null || host === "localhost";
}

/** Whether a host, as URL writes it, is of the server's own machine or network. */
export function isOwnNetworkHost(host: string): boolean {
  const name = withoutDot(host);
  const address = addressIn(name);
  return address === null ? LOOPBACK_NAME.test(name) : isOwnNetworkAddress(address);
}

/** Returns the address that a host, as URL writes it, stands for; null for names. */
function addressIn(host: string): string | null {
  if (host.startsWith("[")) return host.slice(1, -1);
  return IPV4.test(host) ? host : null;
}

/** Decides to which addresses a capture may connect. */
export class EgressRoutes {
  readonly #options: RouteOptions;
  /** The addresses by name, for the whole capture, so that a second look-up cannot return others. */
  readonly #found = new Map<string, Promise<string[]>>();

  constructor(options: RouteOptions) {
    this.#options = options;
  }

  /**
   * Returns the checked addresses of a host, as URL writes it. If one of them is not allowed, the host is refused,
   * because the others come from the same, untrusted source.
   */
  async to(host: string, port: number, signal: AbortSignal): Promise<string[] | RouteRefusal> {
    const name = withoutDot(host);
    if (this.#options.blockedHosts(name)) return "blocked_host";
    const { site } = this.#options;
    const isSite = name === withoutDot(site.host) && port === site.port;
    if (isSite && site.isLiteral && name === "localhost") return LOOPBACK_ADDRESSES;
    if (LOOPBACK_NAME.test(name)) return "blocked_address";
    const address = addressIn(name);
    if (address !== null && isSite && site.isLiteral && isOwnNetworkAddress(address)) {
      return [address];
    }
    if (address !== null && !isPublicAddress(address)) return "blocked_address";
    if (!isSite && !WEB_PORTS.has(port)) return "blocked_port";
    if (address !== null) return [address];
    const found = await this.#find(name, signal).catch(() => []);
    if (found.length === 0) return "unresolved";
    return found.every(isPublicAddress) ? found : "blocked_address";
  }

  #find(name: string, signal: AbortSignal): Promise<string[]> {
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const { resolve, resolveMsMax } = this.#options;
    const finding = withinDeadline(resolveMsMax, signal, () => resolve(name));
    this.#found.set(name, finding);
    // A look-up that failed may succeed the next time.
    finding.catch(() => this.#found.delete(name));
    return finding;
  }
}
