import { parseEnv } from "node:util";
import { CONFIG_VARIABLES } from "./config_variables.ts";
import {
  basePath,
  chromePath,
  cronSchedule,
  emailDomains,
  geoDatabase,
  host,
  jwtSecret,
  metricsToken,
  oidcIssuer,
  oidcScopes,
  origins,
  projectId,
  projectName,
  publicApiKey,
  publicKey,
  publicUrl,
  siteUrl,
  timezone,
  trustedProxies,
} from "./config_values.ts";
import { namesSet } from "./environment.ts";
import type { TrustedProxies } from "../http/client_address.ts";
import type { LogFormat, LogLevel } from "../http/log.ts";
import {
  READ_CACHE_MIB_DEFAULT,
  READ_CACHE_MIB_MAX,
  READ_CACHE_MIB_MIN,
  SCAN_WORKERS_MAX,
} from "../limits.ts";
import {
  mailSender,
  type MailSettings,
  type SmtpServer,
  smtpServer,
} from "../mail/smtp_settings.ts";
import { postgresTarget } from "../postgres_url.ts";
import { typedFootfall, typedVariable } from "../typed_command.ts";

/** One core is left for the server itself. */
const SCAN_WORKERS = Math.min(SCAN_WORKERS_MAX, Math.max(1, navigator.hardwareConcurrency - 1));

/** The validated settings of one server. Built once, frozen, passed as an argument. */
export interface Config {
  /** How whoever started this process types `footfall`; printed in front of its commands. */
  readonly footfall: string;
  /**
   * The same with `DATA_DIR` in front if it is not the default, so that the command finds this server's data;
   * only for the terminal. It never contains a database's URL, which may contain a password.
   */
  readonly footfallHere: string;
  readonly port: number;
  readonly host: string;
  /** `""` or `/analytics`: no slash at the end. */
  readonly basePath: string;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly databaseReadUrl: string | null;
  readonly jwt: {
    readonly secret: string | null;
    readonly jwksUrl: string | null;
    readonly publicKey: string | null;
    readonly issuer: string | null;
    readonly audience: string | null;
  };
  /** The identity provider that people sign in at; null: none. */
  readonly oidc: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string | null;
    readonly scopes: string;
    readonly roleClaim: string | null;
    readonly allowedDomains: readonly string[];
    readonly name: string;
  } | null;
  /** The server's public URL with the base path, no slash at the end; null: taken from each request. */
  readonly publicUrl: string | null;
  readonly trustedProxies: TrustedProxies;
  readonly ipStorage: "full" | "truncated" | "none";
  readonly geoDatabase: string | null;
  readonly corsAllowedOrigins: readonly string[];
  readonly rateLimitEventsPerSecond: number | null;
  readonly chromePath: string | null;
  readonly chromeNoSandbox: boolean;
  readonly captureSchedule: string;
  readonly readTimeoutMs: number;
  readonly scanWorkers: number;
  /** The bytes of loaded segments that are kept for later reads. */
  readonly readCacheBytes: number;
  /** Opens `/metrics` to whoever sends it; null: `/metrics` is open to trusted addresses only. */
  readonly metricsToken: string | null;
  /** How invitations are mailed; null: they are shown to be copied. */
  readonly mail: MailSettings | null;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly defaultProject: {
    readonly id: string;
    readonly name: string | null;
    readonly siteUrl: string | null;
    readonly timezone: string | null;
    readonly apiKey: string | null;
  };
}

export interface Mistake {
  readonly variable: string;
  readonly message: string;
}

/** All mistakes of the environment, each with the name of its variable. */
export class ConfigMistakes extends Error {
  override readonly name = "ConfigMistakes";
  constructor(readonly mistakes: readonly Mistake[]) {
    super(mistakes.map((mistake) => `${mistake.variable}: ${mistake.message}`).join("\n"));
  }
}

type Variable = (typeof CONFIG_VARIABLES)[number]["name"];
type Environment = Readonly<Record<string, string | undefined>>;

/** A blank variable says as much as none. */
function namesOf(variables: Environment): string[] {
  return Object.keys(variables).filter((name) => variables[name]?.trim());
}

/** The file that the tasks of deno.json read variables from; a compiled program reads none. */
const VARIABLES_FILE = ".env";

/**
 * Returns the names of the variables that this process can see and that are not empty: those of the file `.env`, where
 * it is read, and all others if it may read the whole environment, which the tasks of deno.json do not permit.
 */
export function visibleVariables(): string[] {
  const isGranted = (what: Deno.PermissionDescriptor) =>
    Deno.permissions.querySync(what).state === "granted";
  const names = namesSet(isGranted({ name: "env" }));
  if (Deno.build.standalone) return names;
  // On a terminal, Deno would ask whether the file may be read.
  if (!isGranted({ name: "read", path: VARIABLES_FILE })) return names;
  try {
    // A pipe would be waited for.
    if (!Deno.statSync(VARIABLES_FILE).isFile) return names;
    return [...names, ...namesOf(parseEnv(Deno.readTextFileSync(VARIABLES_FILE)))];
  } catch {
    // There is no such file.
    return names;
  }
}

/** Reads values one by one and collects the mistakes in them. */
class Reader {
  readonly mistakes: Mistake[] = [];
  constructor(readonly environment: Environment) {}

  /** The trimmed value; null: unset or empty. */
  text(variable: Variable): string | null {
    const value = this.environment[variable]?.trim() ?? "";
    return value === "" ? null : value;
  }

  /** What `parse` makes of a set value; a thrown Error's message becomes a mistake. */
  parsed<T>(variable: Variable, fallback: T, parse: (value: string) => T): T {
    const value = this.text(variable);
    if (value === null) return fallback;
    try {
      return parse(value);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.mistakes.push({ variable, message });
      return fallback;
    }
  }

  integer(variable: Variable, fallback: number, min: number, max: number): number {
    return this.parsed(variable, fallback, (value) => {
      const number = Number(value);
      if (!/^\d+$/.test(value) || number < min || number > max) {
        throw new Error(`must be a whole number from ${min} to ${max}`);
      }
      return number;
    });
  }

  oneOf<T extends string>(variable: Variable, fallback: T, allowed: readonly T[]): T {
    return this.parsed(variable, fallback, (value) => {
      const found = allowed.find((candidate) => candidate === value.toLowerCase());
      if (found === undefined) throw new Error(`must be one of ${allowed.join(", ")}`);
      return found;
    });
  }

  url(variable: Variable, protocols: readonly string[]): string | null {
    return this.parsed<string | null>(variable, null, (value) => {
      const expected = `must be a URL that starts with ${
        protocols.map((p) => `${p}//`).join(" or ")
      }`;
      if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
        throw new Error(expected);
      }
      return value;
    });
  }
}

const DATA_DIR_DEFAULT = "./data";

function typedOnFolder(environment: Environment, folder: string | null): string {
  const command = typedFootfall(environment);
  return folder === null || folder === DATA_DIR_DEFAULT
    ? command
    : `${typedVariable("DATA_DIR", folder)} ${command}`;
}

const NO_PROXIES: TrustedProxies = { kind: "none" };

function readJwt(reader: Reader): Config["jwt"] {
  const jwt = {
    secret: reader.parsed<string | null>("JWT_SECRET", null, jwtSecret),
    jwksUrl: reader.url("JWT_JWKS_URL", ["https:", "http:"]),
    publicKey: reader.parsed<string | null>("JWT_PUBLIC_KEY", null, publicKey),
    issuer: reader.text("JWT_ISSUER"),
    audience: reader.text("JWT_AUDIENCE"),
  };
  const ways = (["JWT_SECRET", "JWT_JWKS_URL", "JWT_PUBLIC_KEY"] as const)
    .filter((variable) => reader.text(variable) !== null);
  if (ways.length > 1) {
    reader.mistakes.push({
      variable: ways[1]!,
      message: `set only one of ${ways.join(", ")}: it fixes the algorithm of tokens`,
    });
  }
  return jwt;
}

function readMail(reader: Reader): MailSettings | null {
  const server = reader.parsed<SmtpServer | null>("SMTP_URL", null, smtpServer);
  const from = reader.parsed<string | null>("SMTP_FROM", null, mailSender);
  const isHalf = (reader.text("SMTP_URL") === null) !== (reader.text("SMTP_FROM") === null);
  if (isHalf) {
    const [missing, set] = reader.text("SMTP_FROM") === null
      ? ["SMTP_FROM", "SMTP_URL"] as const
      : ["SMTP_URL", "SMTP_FROM"] as const;
    reader.mistakes.push({ variable: missing, message: `is needed beside ${set}` });
  }
  return server === null || from === null ? null : { server, from };
}

function readOidc(reader: Reader): Config["oidc"] {
  const issuer = reader.parsed<string | null>("OIDC_ISSUER", null, oidcIssuer);
  const clientId = reader.text("OIDC_CLIENT_ID");
  const settings = {
    clientSecret: reader.text("OIDC_CLIENT_SECRET"),
    scopes: reader.parsed("OIDC_SCOPES", "openid email profile", oidcScopes),
    roleClaim: reader.text("OIDC_ROLE_CLAIM"),
    allowedDomains: reader.parsed("OIDC_ALLOWED_DOMAINS", [], emailDomains),
  };
  const name = reader.text("OIDC_NAME");
  const isSet = (variable: Variable) => reader.text(variable) !== null;
  const needed = (["OIDC_ISSUER", "OIDC_CLIENT_ID"] as const).filter((each) => !isSet(each));
  const any = CONFIG_VARIABLES.some((each) => each.name.startsWith("OIDC_") && isSet(each.name));
  if (any) {
    for (const variable of needed) {
      reader.mistakes.push({ variable, message: "is needed beside the other OIDC_ variables" });
    }
  }
  if (issuer === null || clientId === null) return null;
  return { issuer, clientId, ...settings, name: name ?? new URL(issuer).host };
}

function readDatabase(reader: Reader, variable: Variable): string | null {
  return reader.parsed<string | null>(variable, null, (value) => {
    postgresTarget(value);
    return value;
  });
}

function readDefaultProject(reader: Reader): Config["defaultProject"] {
  return {
    id: reader.parsed("DEFAULT_PROJECT_ID", "prj_default", projectId),
    name: reader.parsed<string | null>("DEFAULT_PROJECT_NAME", null, projectName),
    siteUrl: reader.parsed<string | null>("DEFAULT_SITE_URL", null, siteUrl),
    timezone: reader.parsed<string | null>("DEFAULT_TIMEZONE", null, timezone),
    apiKey: reader.parsed<string | null>("DEFAULT_API_KEY", null, publicApiKey),
  };
}

/**
 * Returns the environment as a validated Config.
 * @param terminal whether logs go to a terminal, which decides the default of LOG_FORMAT
 * @throws ConfigMistakes with every mistake
 */
export function readConfig(environment: Environment, terminal = false): Config {
  const reader = new Reader(environment);
  const path = reader.parsed("BASE_PATH", "", basePath);
  const config: Config = {
    footfall: typedFootfall(environment),
    footfallHere: typedOnFolder(
      environment,
      reader.text("DATABASE_URL") === null ? reader.text("DATA_DIR") : null,
    ),
    port: reader.integer("PORT", 8000, 0, 65_535),
    host: reader.parsed("HOST", "0.0.0.0", host),
    basePath: path,
    dataDir: reader.text("DATA_DIR") ?? DATA_DIR_DEFAULT,
    databaseUrl: readDatabase(reader, "DATABASE_URL"),
    databaseReadUrl: readDatabase(reader, "DATABASE_READ_URL"),
    jwt: readJwt(reader),
    oidc: readOidc(reader),
    publicUrl: reader.parsed<string | null>("PUBLIC_URL", null, (value) => publicUrl(value, path)),
    trustedProxies: reader.parsed("TRUSTED_PROXIES", NO_PROXIES, trustedProxies),
    ipStorage: reader.oneOf("IP_STORAGE", "full", ["full", "truncated", "none"]),
    geoDatabase: reader.parsed<string | null>("GEO_DATABASE", null, geoDatabase),
    corsAllowedOrigins: reader.parsed("CORS_ALLOWED_ORIGINS", ["*"], origins),
    rateLimitEventsPerSecond: reader.text("RATE_LIMIT_EVENTS_PER_SECOND") === null
      ? null
      : reader.integer("RATE_LIMIT_EVENTS_PER_SECOND", 1, 1, 10_000_000),
    chromePath: reader.parsed<string | null>("CHROME_PATH", null, chromePath),
    chromeNoSandbox: reader.oneOf("CHROME_NO_SANDBOX", "0", ["0", "1", "true", "false"]) === "1" ||
      reader.text("CHROME_NO_SANDBOX")?.toLowerCase() === "true",
    captureSchedule: reader.parsed("CAPTURE_SCHEDULE", "0 3 * * *", cronSchedule),
    readTimeoutMs: reader.integer("READ_TIMEOUT_MS", 15_000, 100, 600_000),
    scanWorkers: reader.integer("SCAN_WORKERS", SCAN_WORKERS, 0, SCAN_WORKERS_MAX),
    readCacheBytes: 1_048_576 *
      reader.integer(
        "READ_CACHE_MIB",
        READ_CACHE_MIB_DEFAULT,
        READ_CACHE_MIB_MIN,
        READ_CACHE_MIB_MAX,
      ),
    metricsToken: reader.parsed<string | null>("METRICS_TOKEN", null, metricsToken),
    mail: readMail(reader),
    logLevel: reader.oneOf("LOG_LEVEL", "info", ["debug", "info", "warn", "error"]),
    logFormat: reader.oneOf("LOG_FORMAT", terminal ? "pretty" : "json", ["pretty", "json"]),
    defaultProject: readDefaultProject(reader),
  };
  if (config.databaseReadUrl !== null && config.databaseUrl === null) {
    reader.mistakes.push({
      variable: "DATABASE_READ_URL",
      message: "needs DATABASE_URL beside it",
    });
  }
  if (reader.mistakes.length > 0) throw new ConfigMistakes(reader.mistakes);
  return Object.freeze(config);
}
