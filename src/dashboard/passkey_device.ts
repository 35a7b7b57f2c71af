/// <reference lib="dom" />
import { ApiProblem } from "./api_problem.ts";
import { callByCookie } from "./cookie_call.ts";

/** What a device is asked for, as the server says it. */
type Options = { readonly [name: string]: unknown };

/** True where this browser can make and use passkeys: over https, or on the machine itself. */
export function canUsePasskeys(): boolean {
  return typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === "function";
}

/** What the device refused, in words that say what to do. */
function told(error: unknown, isNew: boolean): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const name = error instanceof DOMException ? error.name : "";
  const detail = name === "InvalidStateError"
    ? "This device has a passkey for your account already."
    : name === "NotAllowedError"
    ? isNew
      ? "No passkey was made: you cancelled it, or it took too long. Try again."
      : "No passkey was used: you cancelled it, it took too long, or this device has none for this address. Try again, or sign in otherwise."
    : "This browser cannot use passkeys at this address. Sign in otherwise.";
  return new ApiProblem(0, "passkey_refused", detail);
}

/** Makes a passkey on this device, and has the server keep it. Throws ApiProblem. */
export async function addPasskey(name: string): Promise<void> {
  try {
    const options = await callByCookie<Options>("POST", "/v1/auth/passkeys/options");
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
    const made = await navigator.credentials.create({ publicKey }) as PublicKeyCredential | null;
    if (made === null) throw new DOMException("", "NotAllowedError");
    await callByCookie("POST", "/v1/auth/passkeys", { name, response: made.toJSON() });
  } catch (error) {
    throw told(error, true);
  }
}

/** Begins a session with a passkey of this device. Throws ApiProblem. */
export async function signInByPasskey(): Promise<void> {
  try {
    const options = await callByCookie<Options>("POST", "/v1/auth/passkeys/sign-in/options");
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
    const used = await navigator.credentials.get({ publicKey }) as PublicKeyCredential | null;
    if (used === null) throw new DOMException("", "NotAllowedError");
    await callByCookie("POST", "/v1/auth/passkeys/sign-in", { response: used.toJSON() });
  } catch (error) {
    throw told(error, false);
  }
}
