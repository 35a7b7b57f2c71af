import type { ApiKey, KeyDirectory } from "../auth/keys.ts";
import { API_KEY_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { ClientKey } from "./client_event.ts";

const BASIC = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i;
/** A longer one holds no key: base64 writes four characters for three, and a colon and a password may follow. */
const BASIC_LENGTH_MAX = 4 * API_KEY_LENGTH_MAX;

/** The user of Basic credentials; null: none. The password is not looked at. */
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
  const [user = ""] = credentials.split(":", 1);
  return user === "" ? null : { value: user, from: "basic" };
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
