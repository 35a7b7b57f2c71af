import { z } from "zod";
import { recordAudit } from "../../audit/audit.ts";
import type { Log } from "../../http/log.ts";
import { Problem } from "../../problem.ts";
import type { ApiExchange } from "../access.ts";
import { takeChallenge } from "../passkeys/used_challenges.ts";
import { boundOf, judgeWithin } from "../people/attempts.ts";
import { SIGN_IN_ATTEMPTS_MAX } from "../people/people_limits.ts";
import { assertSignsIn, enteringAs, type PeopleServices } from "../people/sign_in_endpoints.ts";
import { briefCookie, briefCookieValue, signIn } from "../people/signed_in.ts";
import type { Sealer } from "../sealed_value.ts";
import { OIDC_FLOW_S_MAX } from "./oidc_limits.ts";
import { arrivalOf, OidcLinkEnded } from "./oidc_arrival.ts";
import { personAtProvider, type RefusalReason, SignInRefused } from "./oidc_person.ts";
import {
  assertAnswers,
  type OidcClaims,
  type OidcProvider,
  OidcRefused,
  type OidcSettings,
  OidcUnavailable,
} from "./oidc_provider.ts";

export interface OidcServices extends PeopleServices {
  readonly log: Log;
  readonly sealer: Sealer;
  /** Null: no provider is configured. */
  readonly oidc: { readonly settings: OidcSettings; readonly provider: OidcProvider } | null;
}

/** Why a sign-in at the provider failed; the dashboard has a sentence for each. */
type OidcOutcome =
  | RefusalReason
  | "unavailable"
  | "refused"
  | "expired"
  | "link_over"
  | "too_many";

const COOKIE = "oidc";
const PURPOSE = "oidc.flow";
const SECRET_LENGTH_MAX = 100;
const RETURN_LENGTH_MAX = 1_500;
const Secret = z.string().max(SECRET_LENGTH_MAX).optional();
const Flow = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
  setup: Secret,
  invitation: Secret,
});

function requireOidc({ oidc }: OidcServices): NonNullable<OidcServices["oidc"]> {
  if (oidc !== null) return oidc;
  throw new Problem("conflict", "No identity provider is configured here (OIDC_ISSUER).");
}

/** Returns the asked path with its query if it is one of this server, else `/`: no link may lead elsewhere. */
function returnPath(asked: string | null, own: string): string {
  if (asked === null || asked.length > RETURN_LENGTH_MAX || !/^\/(?![/\\])/.test(asked)) return "/";
  const base = new URL(own);
  const basePath = base.pathname.replace(/\/$/, "");
  const target = URL.parse(own + asked);
  const isOwn = target !== null && target.origin === base.origin &&
    target.pathname.startsWith(`${basePath}/`);
  return isOwn ? target.pathname.slice(basePath.length) + target.search : "/";
}

function redirect(to: string, cookies: readonly string[]): Response {
  const headers = new Headers({ Location: to, "Cache-Control": "no-store" });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Redirects to the dashboard, which shows the outcome. Servers do not see the fragment, so it is not logged. */
function backToDashboard(own: string, returnTo: string, outcome: OidcOutcome, cookies: string[]) {
  return redirect(`${own}${returnTo}#provider=${outcome}`, cookies);
}

const callbackUrl = (own: string) => `${own}/v1/auth/oidc/callback`;

/**
 * `GET /v1/auth/oidc/start?returnTo=/path&setup=…&invitation=…`: sends the browser to the provider.
 * `returnTo`: where in the dashboard it comes back to.
 */
export async function getOidcStart(
  services: OidcServices,
  exchange: ApiExchange,
): Promise<Response> {
  assertSignsIn(services);
  const { provider } = requireOidc(services);
  const own = services.facts.ownAddress(exchange.request, exchange.peer).url;
  const query = exchange.url.searchParams;
  const returnTo = returnPath(query.get("returnTo"), own);
  const secretOf = (name: string) => query.get(name)?.slice(0, SECRET_LENGTH_MAX);
  try {
    const { url, checks } = await provider.begin(callbackUrl(own));
    const flow = {
      ...checks,
      returnTo,
      setup: secretOf("setup"),
      invitation: secretOf("invitation"),
    } satisfies z.infer<typeof Flow>;
    const value = await services.sealer.seal(PURPOSE, flow, OIDC_FLOW_S_MAX);
    const cookie = { name: COOKIE, value, seconds: OIDC_FLOW_S_MAX };
    return redirect(url, [briefCookie(exchange, services.facts, cookie)]);
  } catch (error) {
    if (!(error instanceof OidcUnavailable)) throw error;
    logFailure(services, error);
    return backToDashboard(own, returnTo, "unavailable", []);
  }
}

/** Logs why the provider could not be used. The cause describes its answer, which contains no secret of ours. */
function logFailure({ log }: OidcServices, error: Error): void {
  const cause = error.cause instanceof Error ? error.cause.message : "";
  log.warn("identity provider", { reason: error.message, cause });
}

/**
 * Asks the provider who signed in, once for each sign-in that was begun. Made-up codes cause requests too, so
 * their number is limited as that of failed sign-ins is, by network.
 *
 * Throws OidcRefused, OidcUnavailable, `too_many_attempts`.
 */
async function confirmSignIn(
  { sql, now, clientAddress }: OidcServices,
  { request, peer, url }: ApiExchange,
  { provider, own, flow }: {
    readonly provider: OidcProvider;
    readonly own: string;
    readonly flow: z.infer<typeof Flow>;
  },
): Promise<OidcClaims> {
  const callback = new URL(callbackUrl(own));
  callback.search = url.search;
  assertAnswers(callback, flow);
  const nowMs = now();
  const address = clientAddress(peer, request.headers);
  const trial = {
    bounds: [boundOf("identity provider", address, SIGN_IN_ATTEMPTS_MAX)],
    nowMs,
    isFailure: (error: unknown) => error instanceof OidcRefused,
  };
  return await judgeWithin(sql, trial, async () => {
    if (!await takeChallenge(sql, `oidc ${flow.state}`, { validS: OIDC_FLOW_S_MAX, nowMs })) {
      throw new OidcRefused("The answer has been used");
    }
    return await provider.finish(callback, flow);
  });
}

/** `GET /v1/auth/oidc/callback`: the provider sends the browser here after the sign-in. */
export async function getOidcCallback(
  services: OidcServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { settings, provider } = requireOidc(services);
  const own = services.facts.ownAddress(exchange.request, exchange.peer).url;
  const text = briefCookieValue(exchange, services.facts, COOKIE);
  const flow = text === null ? null : await services.sealer.open(PURPOSE, text, Flow);
  const gone = briefCookie(exchange, services.facts, { name: COOKIE, value: "", seconds: 0 });
  if (flow === null) return backToDashboard(own, "/", "expired", [gone]);
  try {
    const claims = await confirmSignIn(services, exchange, { provider, own, flow });
    const cookie = await services.sql.transaction(async (sql) => {
      const arrival = await arrivalOf(sql, flow, services.now());
      const { person, isNew, hasOtherRole } = await personAtProvider(
        sql,
        settings,
        claims,
        arrival,
      );
      if (isNew || arrival.makesOwner) {
        await recordAudit(sql, {
          ...enteringAs(services, exchange, person.email),
          what: arrival.makesOwner ? "owner.create" : "person.join",
          subject: person.email,
        });
      }
      if (hasOtherRole) {
        await recordAudit(sql, {
          ...enteringAs(services, exchange, "the identity provider"),
          what: "person.role",
          subject: `${person.email}: ${person.role}`,
        });
      }
      return await signIn({ ...services, sql }, exchange, person.id);
    });
    return redirect(own + flow.returnTo, [gone, cookie]);
  } catch (error) {
    // If another tab has begun a sign-in meanwhile, its cookie is kept.
    const spent = exchange.url.searchParams.get("state") === flow.state ? [gone] : [];
    return backToDashboard(own, flow.returnTo, outcomeOf(services, error), spent);
  }
}

/** Converts an error to an outcome. Rethrows errors that neither the provider nor the person caused. */
function outcomeOf(services: OidcServices, error: unknown): OidcOutcome {
  if (error instanceof SignInRefused) return error.reason;
  if (error instanceof OidcLinkEnded) return "link_over";
  if (error instanceof OidcRefused) return "refused";
  if (error instanceof Problem && error.code === "too_many_attempts") return "too_many";
  if (!(error instanceof OidcUnavailable)) throw error;
  logFailure(services, error);
  return "unavailable";
}
