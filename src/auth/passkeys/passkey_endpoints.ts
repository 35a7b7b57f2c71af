import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import { recordAudit } from "../../audit/audit.ts";
import { readJson, readJsonOfAnyone } from "../../http/json_body.ts";
import type { OwnAddress } from "../../http/own_address.ts";
import { json } from "../../http/reply.ts";
import { Problem } from "../../problem.ts";
import type { ApiExchange } from "../access.ts";
import { assertSignsIn, enteringAs, type PeopleServices } from "../people/sign_in_endpoints.ts";
import {
  assertOwnOrigin,
  briefCookie,
  briefCookieValue,
  requireSignedIn,
  signIn,
} from "../people/signed_in.ts";
import { assertOwnerSignsIn, lockWithOwners, personReply } from "../people/people.ts";
import type { Sealer } from "../sealed_value.ts";
import { nameText } from "../../text_schemas.ts";
import {
  registrationOptions,
  type RelyingParty,
  signInOptions,
  verifyRegistration,
  verifySignIn,
} from "./passkey_ceremony.ts";
import { PASSKEY_ANSWER_BYTES_MAX, PASSKEY_CEREMONY_S_MAX } from "./passkey_limits.ts";
import {
  addPasskey,
  findPasskey,
  listPasskeys,
  notePasskeyUse,
  removePasskey,
  storedPasskeys,
} from "./passkeys.ts";
import { takeChallenge } from "./used_challenges.ts";

export interface PasskeyServices extends PeopleServices {
  readonly sealer: Sealer;
}

const COOKIE = "passkey";
const REGISTRATION = "passkey.registration";
const SIGN_IN = "passkey.sign_in";
const Sealed = z.object({ challenge: z.string(), personId: z.string().nullable() });
/** Base64url; the longest that the standard allows has 1,023 bytes. */
const CredentialId = z.string().regex(/^[A-Za-z0-9_-]{1,1364}$/, "Give the credential's id.");
const Answer = z.looseObject({ id: CredentialId })
  .meta({ description: "What `PublicKeyCredential.toJSON()` gives." });

/** Body of `POST /v1/auth/passkeys`. */
export const PasskeyCreation = z.strictObject({
  name: nameText("Give it a name.")
    .meta({ description: "What you know the device by.", example: "Ada's laptop" }),
  response: Answer,
}).meta({ id: "PasskeyCreation" });

/** Body of `POST /v1/auth/passkeys/sign-in`. */
export const PasskeySignIn = z.strictObject({ response: Answer }).meta({ id: "PasskeySignIn" });

export const PasskeyShown = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
}).meta({ id: "Passkey" });

/** Reply of `GET /v1/auth/passkeys`. */
export const PasskeysReply = z.object({ passkeys: z.array(PasskeyShown) });
/** Reply with the options that the browser passes to the device. */
export const PasskeyOptions = z.looseObject({ challenge: z.string() })
  .meta({ id: "PasskeyOptions" });

/** Whether browsers accept passkeys at this address: https or localhost, and not an IP address. */
export function takesPasskeys({ url, isHttps }: OwnAddress): boolean {
  const { hostname } = new URL(url);
  if (/^[\d.]+$|^\[/.test(hostname)) return false;
  return isHttps || hostname === "localhost" || hostname.endsWith(".localhost");
}

function partyOf({ facts }: PasskeyServices, { request, peer }: ApiExchange): RelyingParty {
  const { origin, hostname } = new URL(facts.ownAddress(request, peer).url);
  return { origin, host: hostname };
}

/** Replies with options, and a cookie with their sealed challenge. */
async function optionsReply(
  services: PasskeyServices,
  exchange: ApiExchange,
  purpose: string,
  options: { readonly challenge: string },
  personId: string | null,
): Promise<Response> {
  const seconds = PASSKEY_CEREMONY_S_MAX;
  const value = await services.sealer.seal(
    purpose,
    { challenge: options.challenge, personId },
    seconds,
  );
  const cookie = briefCookie(exchange, services.facts, { name: COOKIE, value, seconds });
  return json(options, 200, { "Set-Cookie": cookie });
}

/** Reads the challenge from the cookie. Throws `passkey_refused` if there is none, or it has expired. */
async function openChallenge(services: PasskeyServices, exchange: ApiExchange, purpose: string) {
  const text = briefCookieValue(exchange, services.facts, COOKIE);
  const found = text === null ? null : await services.sealer.open(purpose, text, Sealed);
  if (found === null) throw refused("This took too long, or was begun elsewhere. Try again.");
  return found;
}

function refused(detail: string): Problem {
  return new Problem("passkey_refused", detail);
}

const NOT_ADDED = "The passkey was not accepted, and is not kept. Try again.";
const NOT_ACCEPTED = "The passkey was not accepted. Try again, or sign in otherwise.";

/** `GET /v1/auth/passkeys` */
export async function getPasskeys(
  { sql }: PasskeyServices,
  { who }: ApiExchange,
): Promise<Response> {
  return json({ passkeys: await listPasskeys(sql, requireSignedIn(who).person.id) });
}

/** `POST /v1/auth/passkeys/options`: the options for which a device makes a passkey. */
export async function postPasskeyOptions(
  services: PasskeyServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { person } = requireSignedIn(exchange.who);
  const known = await storedPasskeys(services.sql, person.id);
  const options = await registrationOptions(partyOf(services, exchange), person, known);
  return await optionsReply(services, exchange, REGISTRATION, options, person.id);
}

/** `POST /v1/auth/passkeys`: 201 with the passkey. */
export async function postPasskey(
  services: PasskeyServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { person } = requireSignedIn(exchange.who);
  const { name, response } = await readJson(exchange.request, PasskeyCreation);
  const { challenge, personId } = await openChallenge(services, exchange, REGISTRATION);
  if (personId !== person.id) throw refused("This was begun by somebody else. Try again.");
  const passkey = await verifyRegistration(
    partyOf(services, exchange),
    challenge,
    response as unknown as RegistrationResponseJSON,
  );
  if (passkey === null) throw refused(NOT_ADDED);
  const nowMs = services.now();
  const added = await services.sql.transaction(async (sql) => {
    if (!await takeChallenge(sql, challenge, { validS: PASSKEY_CEREMONY_S_MAX, nowMs })) {
      throw refused(NOT_ADDED);
    }
    const added = await addPasskey(sql, { personId: person.id, name, passkey, nowMs });
    await recordAudit(sql, {
      ...enteringAs(services, exchange, person.email),
      what: "passkey.add",
      subject: name,
    });
    return added;
  });
  return json(added, 201);
}

/** `DELETE /v1/auth/passkeys/{id}`: 204. Throws `last_owner` if no owner could sign in any more. */
export async function deletePasskey(
  services: PasskeyServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { person } = requireSignedIn(exchange.who);
  await services.sql.transaction(async (sql) => {
    await lockWithOwners(sql, person.id);
    const { name } = await removePasskey(sql, person.id, exchange.params["id"] ?? "");
    if (person.role === "owner") {
      await assertOwnerSignsIn(sql, services.signInWays.oidc?.issuer ?? null);
    }
    await recordAudit(sql, {
      ...enteringAs(services, exchange, person.email),
      what: "passkey.remove",
      subject: name,
    });
  });
  return new Response(null, { status: 204 });
}

/** `POST /v1/auth/passkeys/sign-in/options`: the options for signing in with any passkey. */
export async function postPasskeySignInOptions(
  services: PasskeyServices,
  exchange: ApiExchange,
): Promise<Response> {
  assertOwnOrigin(exchange, services.facts, false);
  assertSignsIn(services);
  const options = await signInOptions(partyOf(services, exchange));
  return await optionsReply(services, exchange, SIGN_IN, options, null);
}

/** `POST /v1/auth/passkeys/sign-in`: 200 `{ person }` and the cookie. */
export async function postPasskeySignIn(
  services: PasskeyServices,
  exchange: ApiExchange,
): Promise<Response> {
  assertOwnOrigin(exchange, services.facts, false);
  assertSignsIn(services);
  const { response } = await readJsonOfAnyone(
    exchange.request,
    PasskeySignIn,
    PASSKEY_ANSWER_BYTES_MAX,
  );
  const { challenge } = await openChallenge(services, exchange, SIGN_IN);
  const found = await findPasskey(services.sql, response.id);
  const counter = found === null ? null : await verifySignIn(
    partyOf(services, exchange),
    challenge,
    response as unknown as AuthenticationResponseJSON,
    found.passkey,
  );
  if (found === null || counter === null) throw refused(NOT_ACCEPTED);
  const nowMs = services.now();
  const cookie = await services.sql.transaction(async (sql) => {
    const isFresh = await takeChallenge(sql, challenge, { validS: PASSKEY_CEREMONY_S_MAX, nowMs });
    if (!isFresh) throw refused(NOT_ACCEPTED);
    // Locks the person before the passkey, as its removal does, so that the two cannot deadlock.
    const cookie = await signIn({ ...services, sql }, exchange, found.person.id);
    if (!await notePasskeyUse(sql, found.passkey.credentialId, { counter, nowMs })) {
      throw refused(NOT_ACCEPTED);
    }
    return cookie;
  });
  return json({ person: personReply(found.person) }, 200, { "Set-Cookie": cookie });
}
