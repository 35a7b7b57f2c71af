import type { ApiKey, KeyDirectory } from "../auth/keys.ts";
import { API_KEY_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { ClientKey, ProtocolName } from "./client_event.ts";
import { KEYS_TRIED_MAX } from "./client_limits.ts";

const LATIN1 = new TextDecoder("latin1");
const BASIC = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i;
/** Longer ones hold no key: base64 writes four characters for three, and a colon and a password may follow. */
const BASIC_LENGTH_MAX = 4 * API_KEY_LENGTH_MAX;

/**
 * The key in Basic credentials; null: none. It is the text before a final colon, else before the first colon.
 */
export function basicKey(headers: Headers): ClientKey | null {
  const header = headers.get("authorization");
  if (header === null || header.length > BASIC_LENGTH_MAX) return null;
  const written = BASIC.exec(header)?.[1];
  if (written === undefined) return null;
  let credentials: string;
  try {
    credentials = atob(written.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
  // These clients send no password, and keys of other systems may have a colon.
  const [user = ""] = credentials.endsWith(":")
    ? [credentials.slice(0, -1)]
    : credentials.split(":", 1);
  return user === "" ? null : { value: user, from: "basic" };
}

/** A member that may be a key, as these clients write it. They do not escape characters of keys. */
const KEY_MEMBER = /"(?:writeKey|api_key|\$?token)"\s*:\s*"([^"\\]+)"/g;
/** Umami's member: in events of other products, `website` may be anything. */
const WEBSITE_MEMBER = /"website"\s*:\s*"([^"\\]+)"/g;

/**
 * Possible keys in the beginning of a body that is not read to its end: the first few such members, at any
 * depth, as nothing is parsed yet.
 */
export function keysWithin(begin: Uint8Array, protocol: ProtocolName): ClientKey[] {
  const member = protocol === "umami" ? WEBSITE_MEMBER : KEY_MEMBER;
  const values = new Set<string>();
  for (const [, value = ""] of LATIN1.decode(begin).matchAll(member)) {
    if (value.length <= API_KEY_LENGTH_MAX) values.add(value);
    if (values.size === KEYS_TRIED_MAX) break;
  }
  return [...values].map((value) => ({ value, from: "body" }));
}

/**
 * Authenticates a key. Throws as `KeyDirectory.authenticate` does, `missing_api_key` (401) without one, and
 * `key_not_allowed_here` (403) for a secret key that is not from Basic credentials.
 */
export async function authenticateClient(
  keys: KeyDirectory,
  key: ClientKey | null,
): Promise<ApiKey> {
  if (key === null || key.value === "") {
    throw new Problem(
      "missing_api_key",
      "Send the key of a project where this client puts its own.",
    );
  }
  const found = await keys.authenticate(key.value);
  if (found.kind === "secret" && key.from !== "basic") {
    throw new Problem(
      "key_not_allowed_here",
      "Send a secret key only as the user of Basic credentials; here, send a public one.",
    );
  }
  return found;
}
