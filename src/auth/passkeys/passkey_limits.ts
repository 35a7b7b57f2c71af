/** How long a device may take to answer. */
export const PASSKEY_CEREMONY_S_MAX = 300;
/** Passkeys of one person. */
export const PASSKEYS_MAX = 20;
/**
 * A device's answer to sign in, as JSON: it may have an id of 1,364 characters twice, and a signature of
 * ML-DSA-87 has 6,170.
 */
export const PASSKEY_ANSWER_BYTES_MAX = 16 * 1024;
