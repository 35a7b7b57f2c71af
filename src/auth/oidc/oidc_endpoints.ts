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
import { arrivalOf, OidcLinkOver } from "./oidc_arrival.ts";
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

/** What the dashboard says after the provider, where nobody came in. */
export type OidcOutcome =
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

/** A path of ours with its query, whatever the address asks for: nobody is led elsewhere. */
function returnPath(asked: string | null, own: string): string {
  if (asked === null || asked.length > RETURN_LENGTH_MAX || !/^\/(?![/\\])/.test(asked)) return "/";
  const base = new URL(own);
  const target = URL.parse(own + asked);
  const stays = target !== null && target.origin === base.origin &&
    target.pathname.startsWith(`${base.pathname.replace(/\/$/, "")}/`);
  return stays
    ? target.pathname.slice(base.pathname.replace(/\/$/, "").length) + target.search
    : "/";
}

function redirect(to: string, cookies: readonly string[]): Response {
  const headers = new Headers({ Location: to, "Cache-Control": "no-store" });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Back to the dashboard, which says in a sentence what became of it; nothing of it is logged. */
function toldInDashboard(own: string, returnTo: string, outcome: OidcOutcome, cookies: string[]) {
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
    tellOperator(services, error);
    return toldInDashboard(own, returnTo, "unavailable", []);
  }
}

/** The cause names the provider's answer, which holds no secret of ours. */
function tellOperator({ log }: OidcServices, error: Error): void {
  const cause = error.cause instanceof Error ? error.cause.message : "";
  log.warn("identity provider", { reason: error.message, cause });
}

/**
 * What the provider says of who comes back. It is asked once for each sign-in that was begun, and for one
 * network no more often than sign-ins may fail: whoever makes up a code has it asked too.
 *
 * Throws OidcRefused, OidcUnavailable, `too_many_attempts`.
 */
async function confirmed(
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

/** `GET /v1/auth/oidc/callback`: where the provider sends the browser. */
export async function getOidcCallback(
  services: OidcServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { settings, provider } = requireOidc(services);
  const own = services.facts.ownAddress(exchange.request, exchange.peer).url;
  const text = briefCookieValue(exchange, services.facts, COOKIE);
  const flow = text === null ? null : await services.sealer.open(PURPOSE, text, Flow);
  const gone = briefCookie(exchange, services.facts, { name: COOKIE, value: "", seconds: 0 });
  if (flow === null) return toldInDashboard(own, "/", "expired", [gone]);
  try {
    const claims = await confirmed(services, exchange, { provider, own, flow });
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
      return (await signIn({ ...services, sql }, exchange, person.id)).cookie;
    });
    return redirect(own + flow.returnTo, [gone, cookie]);
  } catch (error) {
    // An answer to a sign-in that another tab replaced leaves the cookie of the other tab's.
    const spent = exchange.url.searchParams.get("state") === flow.state ? [gone] : [];
    return toldInDashboard(own, flow.returnTo, outcomeOf(services, error), spent);
  }
}

/** Throws what is none of the provider's or the person's doing. */
function outcomeOf(services: OidcServices, error: unknown): OidcOutcome {
  if (error instanceof SignInRefused) return error.reason;
  if (error instanceof OidcLinkOver) return "link_over";
  if (error instanceof OidcRefused) return "refused";
  if (error instanceof Problem && error.code === "too_many_attempts") return "too_many";
  if (!(error instanceof OidcUnavailable)) throw error;
  tellOperator(services, error);
  return "unavailable";
}
