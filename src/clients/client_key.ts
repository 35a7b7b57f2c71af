import type { ApiKey, KeyDirectory } from "../auth/keys.ts";
import { API_KEY_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { ClientKey, ProtocolName } from "./client_event.ts";
import { KEYS_TRIED_MAX } from "./client_limits.ts";

const LATIN1 = new TextDecoder("latin1");
const BASIC = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i;
/** A longer one holds no key: base64 writes four characters for three, and a colon and a password may follow. */
const BASIC_LENGTH_MAX = 4 * API_KEY_LENGTH_MAX;

/**
 * The key in Basic credentials; null: none. It is all before the last colon where no password stands behind
 * that, else all before the first.
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
  // These clients send no password, and a key of another system may hold a colon.
  const [user = ""] = credentials.endsWith(":")
    ? [credentials.slice(0, -1)]
    : credentials.split(":", 1);
  return user === "" ? null : { value: user, from: "basic" };
}

/** A member that may be a key, as these clients write it. Escapes in a key are none of theirs. */
const KEY_MEMBER = /"(?:writeKey|api_key|\$?token)"\s*:\s*"([^"\\]+)"/g;
/** Umami's: the word may stand for anything in events of the others. */
const WEBSITE_MEMBER = /"website"\s*:\s*"([^"\\]+)"/g;

/**
 * What may be a key in the beginning of a body that is not read to its end: the first few of these members,
 * at any depth, since nothing is parsed yet.
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
 * Whose key it is. Throws as `KeyDirectory.authenticate` does, `missing_api_key` (401) for none, and
 * `key_not_allowed_here` (403) for a secret one that came as anything but a Basic user.
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
