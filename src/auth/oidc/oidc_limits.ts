/** From the start of a sign-in at the provider until the browser comes back. */
export const OIDC_FLOW_S_MAX = 600;
/** The longest that one request to the provider may take. */
export const OIDC_REQUEST_S_MAX = 10;
/** How long the provider's metadata is cached. */
export const OIDC_DISCOVERY_MS_MAX = 3_600_000;
/** How much the provider's clock and ours may differ. */
export const OIDC_CLOCK_LEEWAY_S = 300;
/** The longest subject, by OpenID Connect Core 1.0, section 2. */
export const OIDC_SUBJECT_CHARACTERS_MAX = 255;
/** How many values of the role claim are read. */
export const OIDC_ROLES_MAX = 200;
