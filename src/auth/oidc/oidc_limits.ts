/** From the start of a sign-in at the provider until the browser comes back. */
export const OIDC_FLOW_S_MAX = 600;
/** One request to the provider. */
export const OIDC_REQUEST_S_MAX = 10;
/** How long what the provider says of itself is believed. */
export const OIDC_DISCOVERY_MS_MAX = 3_600_000;
/** By so much may the provider's clock and ours differ. */
export const OIDC_CLOCK_LEEWAY_S = 300;
/** Of a subject, by OpenID Connect Core 1.0, section 2. */
export const OIDC_SUBJECT_CHARACTERS_MAX = 255;
/** Values of the role claim that are looked at. */
export const OIDC_ROLES_MAX = 200;
