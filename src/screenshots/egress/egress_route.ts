import { withinDeadline } from "./egress_socket.ts";
import { isOwnNetworkAddress, isPublicAddress } from "./ip_ranges.ts";

/** Why there is no way to a host. */
export type RouteRefusal = "blocked_host" | "blocked_address" | "blocked_port" | "unresolved";

export interface RouteOptions {
  readonly site: { readonly host: string; readonly port: number; readonly isLiteral: boolean };
  readonly blockedHosts: (host: string) => boolean;
  readonly resolve: (host: string) => Promise<string[]>;
  readonly resolveMsMax: number;
}

const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
/** RFC 6761, 6.3: these names are the own machine, whatever a resolver says. */
const LOOPBACK_NAME = /(?:^|\.)localhost$/;
const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"];

/** A host as URL writes it, without what makes a name absolute: `example.com.` is `example.com`. */
export function withoutDot(host: string): string {
  return host.replace(/\.$/, "");
}

/** Whether a host as URL writes it says itself what it reaches: an address, or `localhost`. */
export function isLiteralHost(host: string): boolean {
  return addressIn(host) !== null || host === "localhost";
}

/** Whether a host as URL writes it is of the server's own machine or network. */
export function isOwnNetworkHost(host: string): boolean {
  const name = withoutDot(host);
  const address = addressIn(name);
  return address === null ? LOOPBACK_NAME.test(name) : isOwnNetworkAddress(address);
}

/** The address that a host as URL writes it is; null for names. */
function addressIn(host: string): string | null {
  if (host.startsWith("[")) return host.slice(1, -1);
  return IPV4.test(host) ? host : null;
}

/** Decides where one capture may connect to. */
export class EgressRoutes {
  readonly #options: RouteOptions;
  /** Of names, for the whole capture: no second look-up can tell other addresses than the first. */
  readonly #found = new Map<string, Promise<string[]>>();

  constructor(options: RouteOptions) {
    this.#options = options;
  }

  /**
   * The addresses that a host, as URL writes it, may be reached at; every one has been checked. One
   * that must not be reached refuses the host: the others come from whoever told of it.
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
    // What failed may succeed the next time.
    finding.catch(() => this.#found.delete(name));
    return finding;
  }
}
