/** Posts to a webhook, at an address that was checked before, so that the name cannot lead elsewhere. */

import { withinDeadline } from "../screenshots/egress/egress_socket.ts";
import { EgressRoutes, isLiteralHost } from "../screenshots/egress/egress_route.ts";
import type { Outcome } from "./deliveries.ts";
import {
  WEBHOOK_ANSWER_HEAD_BYTES_MAX,
  WEBHOOK_CONNECT_MS_MAX,
  WEBHOOK_MS_MAX,
  WEBHOOK_RESOLVE_MS_MAX,
} from "./notification_limits.ts";

export interface WebhookRequest {
  readonly url: string;
  /** Whether an operator set it, so that it may be an address of the server's own network. */
  readonly byOperator: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
}

export interface WebhookNetwork {
  /** Returns all addresses of a name. */
  readonly resolve: (host: string) => Promise<string[]>;
  /** Default: `Deno.connect`. */
  readonly connect?: (to: Deno.ConnectOptions) => Promise<Deno.TcpConn>;
  /** Additional trusted certificates, as PEM. */
  readonly caCerts?: string[];
  readonly timeoutMs?: number;
}

const REFUSALS = {
  blocked_host: "The address is not allowed.",
  blocked_address: "The address is of a private network, which is not allowed here.",
  blocked_port: "The port is not allowed.",
  unresolved: "The name of the host was not found.",
} as const;

async function connect(
  url: URL,
  address: string,
  port: number,
  { caCerts, connect: open = Deno.connect }: WebhookNetwork,
  signal: AbortSignal,
): Promise<Deno.Conn> {
  const connection = await open({ hostname: address, port, signal });
  if (url.protocol === "http:") return connection;
  // Closed if it comes late: the handshake below then fails at once.
  if (signal.aborted) close(connection);
  signal.addEventListener("abort", () => close(connection), { once: true });
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const secure = await Deno.startTls(connection, {
    hostname,
    ...(caCerts === undefined ? {} : { caCerts }),
  });
  signal.addEventListener("abort", () => close(secure), { once: true });
  try {
    await secure.handshake();
    return secure;
  } catch (error) {
    close(secure);
    throw error;
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* It is closed already. */ }
}

async function write(connection: Deno.Conn, text: string): Promise<void> {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(await connection.write(bytes));
}

const STATUS = /^HTTP\/1\.[01] (\d{3})/;

/** Interim answers, such as 103 Early Hints, which precede the final one. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/;
const WHOLE_INTERIMS = /^(?:HTTP\/1\.[01] 1(?!01)\d\d[^]*?\r\n\r\n)+/;

/** Reads the status of the answer; null: it is not HTTP. */
async function readStatus(connection: Deno.Conn): Promise<number | null> {
  const buffer = new Uint8Array(WEBHOOK_ANSWER_HEAD_BYTES_MAX);
  let text = "";
  let bytes = 0;
  while (
    (!text.includes("\r\n") || INTERIM.test(text)) && bytes < WEBHOOK_ANSWER_HEAD_BYTES_MAX
  ) {
    const count = await connection.read(buffer);
    if (count === null) break;
    bytes += count;
    text += new TextDecoder("latin1").decode(buffer.subarray(0, count));
    text = text.replace(WHOLE_INTERIMS, "");
  }
  const status = STATUS.exec(text)?.[1];
  return status === undefined ? null : Number(status);
}

/** Returns the head and the body of the request. The header values are our own, without line breaks. */
function requestText(url: URL, { headers, body }: WebhookRequest): string {
  const bytes = new TextEncoder().encode(body).length;
  const lines = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "User-Agent: Footfall",
    "Content-Type: application/json",
    `Content-Length: ${bytes}`,
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

function outcomeOf(status: number | null): Outcome {
  if (status === null) return { status: "retry", words: "The answer was no HTTP." };
  if (status >= 200 && status < 300) return { status: "sent", words: `Answered ${status}.` };
  if (status === 410) return { status: "failed", words: "Answered 410: it is gone." };
  if (status >= 300 && status < 400) {
    return { status: "retry", words: `Answered ${status}: redirects are not followed.` };
  }
  return { status: "retry", words: `Answered ${status}.` };
}

/** Returns the addresses of a webhook, or why it may not be reached, by the rules of captures. */
async function addressesOf(
  url: URL,
  port: number,
  byOperator: boolean,
  { resolve }: WebhookNetwork,
  signal: AbortSignal,
): Promise<string[] | Outcome> {
  const host = url.hostname;
  const routes = new EgressRoutes({
    // Its own port is always allowed; an address of the own network only if an operator set it.
    site: { host, port, isLiteral: byOperator && isLiteralHost(host) },
    blockedHosts: () => false,
    resolve,
    resolveMsMax: WEBHOOK_RESOLVE_MS_MAX,
  });
  const found = await routes.to(host, port, signal);
  if (typeof found !== "string") return found;
  return { status: found === "unresolved" ? "retry" : "failed", words: REFUSALS[found] };
}

function isTlsError(error: unknown): boolean {
  return error instanceof Deno.errors.InvalidData || /certificate|tls/i.test(String(error));
}

const isIPv6 = (address: string) => address.includes(":");

/** Alternates between IPv4 and IPv6 addresses, since one family may be unreachable from here. */
function alternateFamilies(addresses: readonly string[]): string[] {
  const isOfFirst = (address: string) => isIPv6(address) === isIPv6(addresses[0]!);
  const first = addresses.filter(isOfFirst);
  const other = addresses.filter((address) => !isOfFirst(address));
  return addresses.flatMap((_, i) => [...first.slice(i, i + 1), ...other.slice(i, i + 1)]);
}

async function exchange(
  url: URL,
  addresses: readonly string[],
  port: number,
  request: WebhookRequest,
  network: WebhookNetwork,
  signal: AbortSignal,
): Promise<Outcome> {
  let hasTlsError = false;
  const ordered = alternateFamilies(addresses);
  for (const [i, address] of ordered.entries()) {
    let connection: Deno.Conn;
    try {
      // An unreachable address leaves time for the next one; a connection that comes too late is closed.
      connection = await withinDeadline(
        i + 1 < ordered.length ? WEBHOOK_CONNECT_MS_MAX : WEBHOOK_MS_MAX,
        signal,
        (given) => connect(url, address, port, network, given),
        close,
      );
    } catch (error) {
      signal.throwIfAborted();
      hasTlsError ||= isTlsError(error);
      continue;
    }
    const onAbort = () => close(connection);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      // Once the time is over, the message is left to the next try, so that it is not sent twice.
      signal.throwIfAborted();
      await write(connection, requestText(url, request));
      return outcomeOf(await readStatus(connection));
    } finally {
      signal.removeEventListener("abort", onAbort);
      close(connection);
    }
  }
  return {
    status: "retry",
    words: hasTlsError ? "Its certificate is not one to believe." : "It cannot be reached.",
  };
}

/** Posts a message. Never throws: the outcome describes a failure, without the answer's own text. */
export async function postWebhook(
  request: WebhookRequest,
  network: WebhookNetwork,
): Promise<Outcome> {
  const url = new URL(request.url);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const timeoutMs = network.timeoutMs ?? WEBHOOK_MS_MAX;
  try {
    return await withinDeadline(timeoutMs, request.signal, async (signal) => {
      const found = await addressesOf(url, port, request.byOperator, network, signal);
      if (!Array.isArray(found)) return found as Outcome;
      return await exchange(url, found, port, request, network, signal);
    });
  } catch {
    return { status: "retry", words: "It did not answer in time, or broke off." };
  }
}
