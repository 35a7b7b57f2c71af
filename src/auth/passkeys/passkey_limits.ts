/** From the question to the answer of the device. */
export const PASSKEY_CEREMONY_S_MAX = 300;
/** Passkeys of one person. */
export const PASSKEYS_MAX = 20;
/**
 * What a device answers to sign in, as JSON: an id of 1,364 characters stands in it twice, and a signature
 * of ML-DSA-87 has 6,170.
 */
export const PASSKEY_ANSWER_BYTES_MAX = 16 * 1024;
