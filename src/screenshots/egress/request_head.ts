/** Heads of HTTP/1.1 messages for a forward proxy, which parses them strictly and rewrites them. */

/** A request of the browser to the proxy. */
export interface EgressRequest {
  /** True: a tunnel to host and port; false: a request of plain HTTP. */
  readonly isTunnel: boolean;
  readonly method: string;
  /** As URL writes it: lower case, IPv4 in decimal, IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  /** The head for the site's server: in origin form, with `Connection: close`. */
  readonly head: string;
  readonly bodyBytes: number;
}

/** The head of the response of a site's server. */
export interface EgressAnswer {
  /** Whether the status is 1xx, so that the final response is still to come. */
  readonly isInterim: boolean;
  readonly head: string;
  /** Null: the body ends with the connection, or as the body itself says. */
  readonly bodyBytes: number | null;
}

interface Field {
  /** In lower case. */
  readonly name: string;
  /** The line as it was sent. */
  readonly line: string;
  readonly value: string;
}

/** The end of a request's head, and of a response's, for which careless servers may write only line feeds. */
export const REQUEST_HEAD_END = /\r\n\r\n/;
export const ANSWER_HEAD_END = /\r?\n\r?\n/;

/** The header in which the proxy says why it refused a request. */
export const REFUSAL_HEADER = "X-Footfall-Egress";

const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]{1,40}) ([\x21-\x7e]+) HTTP\/1\.[01]$/;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: ([^\r\n\0]*))?$/;
const FIELD = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*?)[ \t]*$/;
const ABSOLUTE_FORM = /^http:\/\/([^/?#]+)([^#]*)/i;
const AUTHORITY = /^(?:\[[\da-f:.]+\]|[^\s/?#@\\:[\]]+)(?::\d{1,5})?$/i;
const ENDS_WITH_PORT = /:\d{1,5}$/;
const LENGTH = /^\d{1,15}$/;

/** Fields of only one connection (RFC 9110, 7.6.1), and those that announce further requests on it. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "te", "trailer", "upgrade"]);
const WITHOUT_BODY = new Set([204, 304]);
const DEFAULT_PORT = 80;

/**
 * Parses the head of a request, including its blank line. Returns null unless it is a CONNECT to `host:port`, or a
 * request for an `http://` address whose body has a known length.
 */
export function parseRequestHead(text: string): EgressRequest | null {
  const [requestLine = "", ...lines] = text.slice(0, -"\r\n\r\n".length).split("\r\n");
  const [, method = "", target = ""] = REQUEST_LINE.exec(requestLine) ?? [];
  const fields = parseFields(lines);
  if (method === "" || fields.length !== lines.length) return null;
  if (method === "CONNECT") {
    const place = ENDS_WITH_PORT.test(target) ? parseAuthority(target) : null;
    return place && { isTunnel: true, method, ...place, head: "", bodyBytes: 0 };
  }
  const [, authority = "", rest = ""] = ABSOLUTE_FORM.exec(target) ?? [];
  const place = parseAuthority(authority);
  const bodyBytes = statedBodyBytes(fields);
  if (place === null || bodyBytes === null) return null;
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  const head = [
    `${method} ${path} HTTP/1.1`,
    // Not the request's own `Host`, which could make the server take it for another site's.
    `Host: ${place.host}${place.port === DEFAULT_PORT ? "" : `:${place.port}`}`,
    ...forwarded(fields, ["host", "content-length", "transfer-encoding"]),
    ...(bodyBytes === undefined ? [] : [`Content-Length: ${bodyBytes}`]),
    "Connection: close",
  ];
  return { isTunnel: false, method, ...place, head: ended(head), bodyBytes: bodyBytes ?? 0 };
}

/**
 * Parses the head of a response to a request with this method, including its blank line. Returns null if it is not
 * valid, or if the server switches to another protocol.
 */
export function parseAnswerHead(text: string, method: string): EgressAnswer | null {
  const [statusLine = "", ...lines] = text.trimEnd().split(/\r?\n/);
  const [, digits, reason = ""] = STATUS_LINE.exec(statusLine) ?? [];
  const status = Number(digits ?? "101");
  if (status === 101) return null;
  const fields = parseFields(lines);
  const isInterim = status < 200;
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    ...forwarded(fields, [REFUSAL_HEADER.toLowerCase()]),
    ...(isInterim ? [] : ["Connection: close"]),
  ];
  const isBare = isInterim || method === "HEAD" || WITHOUT_BODY.has(status);
  return { isInterim, head: ended(head), bodyBytes: isBare ? 0 : statedBodyBytes(fields) ?? null };
}

/** Returns the fields of the lines, without lines that are not a valid field. */
function parseFields(lines: readonly string[]): Field[] {
  return lines.flatMap((line) => {
    const [, name, value = ""] = FIELD.exec(line) ?? [];
    return name === undefined ? [] : [{ name: name.toLowerCase(), line, value }];
  });
}

function parseAuthority(text: string): { host: string; port: number } | null {
  const url = AUTHORITY.test(text) ? URL.parse(`http://${text}`) : null;
  if (url === null || url.hostname === "") return null;
  return { host: url.hostname, port: url.port === "" ? DEFAULT_PORT : Number(url.port) };
}

/** Returns the length of the body; undefined: none is stated; null: its end would be ambiguous. */
function statedBodyBytes(fields: readonly Field[]): number | undefined | null {
  if (fields.some(({ name }) => name === "transfer-encoding")) return null;
  const lengths = fields.filter(({ name }) => name === "content-length");
  const [only] = lengths;
  if (only === undefined) return undefined;
  return lengths.length === 1 && LENGTH.test(only.value) ? Number(only.value) : null;
}

/**
 * Returns the lines of the fields to forward: all but those of the connection, and `others`. A field that frames the
 * body stays even if `Connection` names it, since otherwise two readers would see the body end at different places.
 */
function forwarded(fields: readonly Field[], others: readonly string[]): string[] {
  const named = fields.filter(({ name }) => name === "connection")
    .flatMap(({ value }) => value.toLowerCase().split(",").map((token) => token.trim()))
    .filter((name) => name !== "content-length" && name !== "transfer-encoding");
  const left = new Set([...HOP_BY_HOP, ...named, ...others]);
  return fields.filter(({ name }) => !left.has(name) && !name.startsWith("proxy-"))
    .map(({ line }) => line);
}

function ended(lines: readonly string[]): string {
  return lines.join("\r\n") + "\r\n\r\n";
}
