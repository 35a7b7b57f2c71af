import { getOidcCallback, getOidcStart, type OidcServices } from "../auth/oidc/oidc_endpoints.ts";
import {
  deletePasskey,
  getPasskeys,
  PasskeyCreation,
  PasskeyOptions,
  type PasskeyServices,
  PasskeyShown,
  PasskeySignIn,
  PasskeysReply,
  postPasskey,
  postPasskeyOptions,
  postPasskeySignIn,
  postPasskeySignInOptions,
} from "../auth/passkeys/passkey_endpoints.ts";
import { SignedInShown } from "../auth/people/sign_in_endpoints.ts";
import type { DocumentedRoute } from "./documented_route.ts";

export type SignInServices = OidcServices & PasskeyServices;

function oidcRoutes(services: OidcServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/auth/oidc/start",
      access: "anyone",
      handler: (exchange) => getOidcStart(services, exchange),
      doc: {
        summary: "Send the browser to the identity provider",
        query: {
          returnTo: "Where in the dashboard it comes back to: a path with its query",
          setup: "The secret of the set-up link that was followed",
          invitation: "The secret of the invitation that was followed",
        },
        success: {
          status: 303,
          description: "To the provider",
          hasLocation: true,
        },
        problems: ["conflict"],
      },
    },
    {
      method: "GET",
      path: "/v1/auth/oidc/callback",
      access: "anyone",
      handler: (exchange) => getOidcCallback(services, exchange),
      doc: {
        summary: "Where the identity provider sends the browser",
        success: {
          status: 303,
          description:
            "To the dashboard, with the session's cookie or `#provider=…` that says why not",
          hasLocation: true,
        },
        problems: ["conflict"],
      },
    },
  ];
}

function ownPasskeyRoutes(services: PasskeyServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/auth/passkeys",
      access: "person",
      handler: (exchange) => getPasskeys(services, exchange),
      doc: {
        summary: "One's own passkeys",
        success: { status: 200, description: "Passkeys", schema: PasskeysReply },
        problems: [],
      },
    },
    {
      method: "POST",
      path: "/v1/auth/passkeys/options",
      access: "person",
      handler: (exchange) => postPasskeyOptions(services, exchange),
      doc: {
        summary: "What a device is asked for to make a passkey",
        success: { status: 200, description: "Options of WebAuthn", schema: PasskeyOptions },
        problems: [],
      },
    },
    {
      method: "POST",
      path: "/v1/auth/passkeys",
      access: "person",
      handler: (exchange) => postPasskey(services, exchange),
      doc: {
        summary: "Keep a passkey that a device has made",
        body: PasskeyCreation,
        success: { status: 201, description: "The passkey", schema: PasskeyShown },
        problems: ["passkey_refused", "conflict"],
      },
    },
    {
      method: "DELETE",
      path: "/v1/auth/passkeys/:id",
      access: "person",
      handler: (exchange) => deletePasskey(services, exchange),
      doc: {
        summary: "Remove one of one's own passkeys",
        success: { status: 204, description: "It opens nothing any more" },
        problems: ["not_found", "last_owner"],
      },
    },
  ];
}

function passkeySignInRoutes(services: PasskeyServices): DocumentedRoute[] {
  return [
    {
      method: "POST",
      path: "/v1/auth/passkeys/sign-in/options",
      access: "anyone",
      handler: (exchange) => postPasskeySignInOptions(services, exchange),
      doc: {
        summary: "What a device is asked for to sign in with a passkey",
        success: { status: 200, description: "Options of WebAuthn", schema: PasskeyOptions },
        problems: ["conflict", "foreign_origin"],
      },
    },
    {
      method: "POST",
      path: "/v1/auth/passkeys/sign-in",
      access: "anyone",
      handler: (exchange) => postPasskeySignIn(services, exchange),
      doc: {
        summary: "Sign in with a passkey",
        body: PasskeySignIn,
        success: { status: 200, description: "Signed in, with a cookie", schema: SignedInShown },
        problems: ["passkey_refused", "conflict", "foreign_origin"],
      },
    },
  ];
}

/** Returns the routes for signing in with an identity provider and with passkeys. */
export function signInRoutes(services: SignInServices): DocumentedRoute[] {
  return [
    ...oidcRoutes(services),
    ...ownPasskeyRoutes(services),
    ...passkeySignInRoutes(services),
  ];
}
