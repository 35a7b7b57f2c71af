/** The variables as `--help` and docs/configuration.md list them, most needed first. */
export const CONFIG_VARIABLES = [
  { name: "PORT", default: "8000", meaning: "TCP port to listen on; 0 picks a free one" },
  { name: "HOST", default: "0.0.0.0", meaning: "address to listen on" },
  { name: "BASE_PATH", default: "", meaning: "path below a same-origin proxy, e.g. /analytics" },
  {
    name: "DATA_DIR",
    default: "./data",
    meaning: "folder of the embedded database and run-time files",
  },
  {
    name: "DATABASE_URL",
    default: "",
    meaning: "postgres://… of a PostgreSQL 15 or newer; empty: the embedded database",
  },
  { name: "DATABASE_READ_URL", default: "", meaning: "postgres://… of a replica for the reads" },
  {
    name: "JWT_SECRET",
    default: "",
    meaning: "HS256 secret, best 32 random bytes; empty: one is made and kept in the database",
  },
  {
    name: "JWT_JWKS_URL",
    default: "",
    meaning: "key set of an identity provider (RS256, ES256, EdDSA)",
  },
  {
    name: "JWT_PUBLIC_KEY",
    default: "",
    meaning: "one public key, PEM or JWK, of an identity provider",
  },
  { name: "JWT_ISSUER", default: "", meaning: "required `iss` of tokens" },
  { name: "JWT_AUDIENCE", default: "", meaning: "required `aud` of tokens" },
  {
    name: "PUBLIC_URL",
    default: "",
    meaning: "where people open the dashboard, e.g. https://stats.example.com; links begin with it",
  },
  {
    name: "OIDC_ISSUER",
    default: "",
    meaning: "identity provider that people sign in at, e.g. https://login.example.com",
  },
  { name: "OIDC_CLIENT_ID", default: "", meaning: "what the provider calls this server" },
  { name: "OIDC_CLIENT_SECRET", default: "", meaning: "its secret there; empty: PKCE alone" },
  {
    name: "OIDC_SCOPES",
    default: "openid email profile",
    meaning: "what the provider is asked for",
  },
  {
    name: "OIDC_ROLE_CLAIM",
    default: "",
    meaning: "claim whose values name roles, e.g. roles or realm_access.roles",
  },
  {
    name: "OIDC_ALLOWED_DOMAINS",
    default: "",
    meaning:
      "whose verified e-mail addresses become viewers at their first sign-in, comma-separated",
  },
  { name: "OIDC_NAME", default: "the issuer's host", meaning: "what the sign-in page calls it" },
  {
    name: "TRUSTED_PROXIES",
    default: "",
    meaning: "CIDR list of reverse proxies, or a hop count (1 = the right-most address)",
  },
  { name: "IP_STORAGE", default: "full", meaning: "full, truncated (/24, /48) or none" },
  {
    name: "GEO_DATABASE",
    default: "",
    meaning: "MaxMind-format city database; empty: the built-in countries",
  },
  {
    name: "CORS_ALLOWED_ORIGINS",
    default: "*",
    meaning: "origins whose pages may read replies, comma-separated",
  },
  {
    name: "RATE_LIMIT_EVENTS_PER_SECOND",
    default: "",
    meaning: "events per second and key; empty: no limit",
  },
  { name: "CHROME_PATH", default: "", meaning: "browser for the heatmap captures" },
  { name: "CHROME_NO_SANDBOX", default: "", meaning: "1 to run the browser without its sandbox" },
  { name: "CAPTURE_SCHEDULE", default: "0 3 * * *", meaning: "cron schedule of captures, in UTC" },
  { name: "READ_TIMEOUT_MS", default: "15000", meaning: "longest time of one dashboard read" },
  {
    name: "SCAN_WORKERS",
    default: "cores less one, at least 1",
    meaning: "threads that count for reads beside the server's own",
  },
  {
    name: "READ_CACHE_MIB",
    default: "320",
    meaning: "memory for all that reads keep of events, in MiB: 320 hold some 19 million",
  },
  {
    name: "METRICS_TOKEN",
    default: "",
    meaning: "opens /metrics to other machines that send it as a bearer token",
  },
  {
    name: "SMTP_URL",
    default: "",
    meaning:
      "mail server for invitations and digests, e.g. smtp://user:password@mail.example.com:587",
  },
  {
    name: "SMTP_FROM",
    default: "",
    meaning: "whom mail is from, e.g. Footfall <stats@example.com>",
  },
  { name: "LOG_LEVEL", default: "info", meaning: "debug, info, warn or error" },
  { name: "LOG_FORMAT", default: "pretty on a terminal, else json", meaning: "pretty or json" },
  {
    name: "DEFAULT_PROJECT_ID",
    default: "prj_default",
    meaning: "project that a start makes if it is missing",
  },
  { name: "DEFAULT_PROJECT_NAME", default: "", meaning: "its name" },
  { name: "DEFAULT_SITE_URL", default: "", meaning: "its site, e.g. https://shop.example" },
  { name: "DEFAULT_TIMEZONE", default: "", meaning: "its IANA time zone, e.g. Europe/Berlin" },
  { name: "DEFAULT_API_KEY", default: "", meaning: "a public key for it" },
] as const;
