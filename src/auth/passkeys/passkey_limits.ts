/** From the question to the answer of the device. */
export const PASSKEY_CEREMONY_S_MAX = 300;
/** Passkeys of one person. */
export const PASSKEYS_MAX = 20;
