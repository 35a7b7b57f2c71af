import { z } from "zod";
import {
  AccountChange,
  AccountShown,
  deleteSession,
  deleteSessions,
  getAccount,
  getSessions,
  PasswordChange,
  patchAccount,
  postPassword,
  SessionsShown,
} from "../auth/people/account_endpoints.ts";
import {
  InvitationUse,
  LinkLook,
  LinkShown,
  postInvitationUse,
  postLinkLook,
  postReset,
  ResetUse,
} from "../auth/people/link_endpoints.ts";
import { PersonShown } from "../auth/people/people.ts";
import {
  deletePerson,
  getPeople,
  patchPerson,
  PersonChange,
  PersonCreation,
  PersonInvited,
  postInvitation,
  postPerson,
} from "../auth/people/people_endpoints.ts";
import {
  Credentials,
  getAuth,
  OwnerCreation,
  type PeopleServices,
  PersonToken,
  postOwner,
  postPersonToken,
  postSignIn,
  postSignOut,
  SignedInShown,
  SignInOffer,
} from "../auth/people/sign_in_endpoints.ts";
import { type DocumentedRoute, made, type RouteDoc, shown } from "./documented_route.ts";
import type { ProblemCode } from "../problem.ts";

const ENTRY_PROBLEMS: readonly ProblemCode[] = [
  "foreign_origin",
  "conflict",
];
const LINK_PROBLEMS: readonly ProblemCode[] = ["invalid_link", "used_link", "expired_link"];

const nothing = (description: string): RouteDoc["success"] => ({ status: 204, description });

type Endpoint = (
  services: PeopleServices,
  exchange: Parameters<DocumentedRoute["handler"]>[0],
) => Promise<Response>;

function row(
  services: PeopleServices,
  [method, path, access]: readonly [
    DocumentedRoute["method"],
    string,
    DocumentedRoute["access"],
  ],
  endpoint: Endpoint,
  doc: RouteDoc,
): DocumentedRoute {
  return { method, path, access, handler: (exchange) => endpoint(services, exchange), doc };
}

/** Returns the routes for signing in and out. */
function entryRoutes(services: PeopleServices): DocumentedRoute[] {
  return [
    row(services, ["GET", "/v1/auth", "anyone"], getAuth, {
      summary: "What the sign-in page may offer",
      success: shown("Ways to sign in", SignInOffer),
      problems: [],
    }),
    row(services, ["POST", "/v1/auth/owner", "anyone"], postOwner, {
      summary: "Make the first owner, by the set-up link that a start prints",
      body: OwnerCreation,
      success: shown("The owner, signed in", SignedInShown, 201),
      problems: [...ENTRY_PROBLEMS, ...LINK_PROBLEMS, "owner_exists"],
    }),
    row(services, ["POST", "/v1/auth/sign-in", "anyone"], postSignIn, {
      summary: "Sign in: the reply sets the cookie of a session",
      body: Credentials,
      success: shown("Signed in", SignedInShown),
      problems: [...ENTRY_PROBLEMS, "invalid_credentials", "too_many_attempts"],
    }),
    row(services, ["POST", "/v1/auth/sign-out", "anyone"], postSignOut, {
      summary: "End the session of the cookie, on every server within a second",
      success: nothing("Signed out"),
      problems: ["foreign_origin"],
    }),
    row(services, ["POST", "/v1/auth/invitation", "anyone"], postInvitationUse, {
      summary: "Accept an invitation: choose a password, and be signed in",
      body: InvitationUse,
      success: shown("Signed in", SignedInShown),
      problems: [...ENTRY_PROBLEMS, ...LINK_PROBLEMS, "not_found"],
    }),
    row(services, ["POST", "/v1/auth/invitation/look", "anyone"], postLinkLook, {
      summary: "The person whom an invitation, or a link for a new password, is for",
      body: LinkLook,
      success: shown("The link, which can still be used", LinkShown),
      problems: [...LINK_PROBLEMS, "not_found"],
    }),
    row(services, ["POST", "/v1/auth/reset", "anyone"], postReset, {
      summary: "Choose another password by a link: every earlier session ends",
      body: ResetUse,
      success: shown("Signed in", SignedInShown),
      problems: [...ENTRY_PROBLEMS, ...LINK_PROBLEMS, "not_found"],
    }),
  ];
}

/** Returns the routes for a signed-in person's own account, which use the cookie. */
function accountRoutes(services: PeopleServices): DocumentedRoute[] {
  return [
    row(services, ["POST", "/v1/auth/token", "person"], postPersonToken, {
      summary: "A token of 15 minutes with the person's scopes and projects",
      success: shown("The token", PersonToken),
      problems: ["conflict"],
    }),
    row(services, ["GET", "/v1/auth/account", "person"], getAccount, {
      summary: "Who is signed in",
      success: shown("The account", AccountShown),
      problems: [],
    }),
    row(services, ["PATCH", "/v1/auth/account", "person"], patchAccount, {
      summary: "Change one's own name",
      body: AccountChange,
      success: shown("The person as they are now", z.object({ person: PersonShown })),
      problems: [],
    }),
    row(services, ["GET", "/v1/auth/sessions", "person"], getSessions, {
      summary: "One's own sessions: device, place and last use",
      success: shown("Sessions, last used first", SessionsShown),
      problems: [],
    }),
    row(services, ["DELETE", "/v1/auth/sessions", "person"], deleteSessions, {
      summary: "End all of one's own sessions, on every server within a second",
      success: nothing("They have ended"),
      problems: [],
    }),
    row(services, ["DELETE", "/v1/auth/sessions/:id", "person"], deleteSession, {
      summary: "End one of one's own sessions, on every server within a second",
      success: nothing("It has ended"),
      problems: ["not_found"],
    }),
    row(services, ["POST", "/v1/auth/password", "person"], postPassword, {
      summary: "Change one's own password: the other sessions end",
      body: PasswordChange,
      success: nothing("Changed"),
      problems: ["invalid_credentials", "too_many_attempts"],
    }),
  ];
}

/** Returns the routes by which owners manage people. Each needs a token for every project. */
function ownerRoutes(services: PeopleServices): DocumentedRoute[] {
  return [
    row(services, ["GET", "/v1/people", "people"], getPeople, {
      summary: "Everybody who may sign in (token for every project)",
      success: shown("People", z.object({ people: z.array(PersonShown) })),
      problems: [],
    }),
    row(services, ["POST", "/v1/people", "people"], postPerson, {
      summary: "Invite somebody (token for every project)",
      body: PersonCreation,
      success: made("The person, and the link that lets them in", PersonInvited),
      problems: ["conflict"],
    }),
    row(services, ["PATCH", "/v1/people/:id", "people"], patchPerson, {
      summary: "Change a person's name, role or projects; the last two end their tokens",
      body: PersonChange,
      success: shown("The person as they are now", z.object({ person: PersonShown })),
      problems: ["not_found", "last_owner"],
    }),
    row(services, ["DELETE", "/v1/people/:id", "people"], deletePerson, {
      summary: "Remove a person, on every server within a second",
      success: nothing("Removed"),
      problems: ["not_found", "last_owner"],
    }),
    row(services, ["POST", "/v1/people/:id/invitation", "people"], postInvitation, {
      summary: "Another link for a person: to join, or to choose another password",
      success: shown("The person, and the link", PersonInvited, 201),
      problems: ["not_found"],
    }),
  ];
}

/** Returns the routes for signing in, for one's own account, and for managing people. */
export function peopleRoutes(services: PeopleServices): DocumentedRoute[] {
  return [...entryRoutes(services), ...accountRoutes(services), ...ownerRoutes(services)];
}
