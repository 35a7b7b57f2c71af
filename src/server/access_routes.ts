import { z } from "zod";
import { AUDIT_QUERY } from "../audit/audit_list.ts";
import { AuditShown, getAudit } from "../auth/audit_endpoint.ts";
import {
  ApiTokenCreated,
  ApiTokenCreation,
  type ApiTokenServices,
  ApiTokenShown,
  deleteApiToken,
  getApiTokens,
  postApiToken,
} from "../auth/api_tokens/api_token_endpoints.ts";
import {
  deleteKey,
  getKeys,
  KeyCreated,
  KeyCreation,
  KeyRotation,
  type KeyServices,
  KeyShown,
  postKey,
  postKeyRotation,
} from "../auth/key_endpoints.ts";
import {
  getProject,
  getProjects,
  patchProjectById,
  postProject,
  type ProjectServices,
} from "../auth/project_endpoints.ts";
import { ProjectChange, ProjectCreation, ProjectShown } from "../auth/projects.ts";
import {
  deleteTokens,
  getSession,
  postToken,
  type RevocationServices,
  type SessionServices,
  SessionShown,
  TokenCreated,
  TokenCreation,
  TokensRevoked,
} from "../auth/session_endpoints.ts";
import { type DocumentedRoute, made, shown } from "./documented_route.ts";

export type AccessServices =
  & SessionServices
  & RevocationServices
  & ProjectServices
  & KeyServices
  & ApiTokenServices;

function tokenRoutes(services: AccessServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/session",
      access: "session",
      handler: (exchange) => getSession(services, exchange),
      doc: {
        summary: "Who the token is, and which projects it may read",
        success: { status: 200, description: "The session", schema: SessionShown },
        problems: [],
      },
    },
    {
      method: "POST",
      path: "/v1/internal/tokens",
      access: "admin",
      handler: (exchange) => postToken(services, exchange),
      doc: {
        summary: "Issue a token (where no identity provider is configured)",
        body: TokenCreation,
        success: { status: 201, description: "The token", schema: TokenCreated },
        problems: ["conflict"],
      },
    },
    {
      method: "DELETE",
      path: "/v1/internal/tokens",
      access: "admin",
      handler: (exchange) => deleteTokens(services, exchange),
      doc: {
        summary: "Revoke every token issued so far, on every server within a second " +
          "(token for every project)",
        success: shown("Earlier tokens are no longer valid", TokensRevoked),
        problems: [],
      },
    },
  ];
}

function apiTokenRoutes(services: ApiTokenServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/tokens",
      access: "read",
      handler: (exchange) => getApiTokens(services, exchange),
      doc: {
        summary: "Your API tokens; with the scope `people`, everybody's",
        success: shown("API tokens", z.object({ tokens: z.array(ApiTokenShown) })),
        problems: [],
      },
    },
    {
      method: "POST",
      path: "/v1/tokens",
      access: "read",
      handler: (exchange) => postApiToken(services, exchange),
      doc: {
        summary: "Create an API token, which may do no more than you; it is shown once",
        body: ApiTokenCreation,
        success: made("The new token", ApiTokenCreated),
        problems: ["conflict"],
      },
    },
    {
      method: "DELETE",
      path: "/v1/tokens/:id",
      access: "read",
      handler: (exchange) => deleteApiToken(services, exchange),
      doc: {
        summary: "Revoke an API token and what was made with it, on every server within a second",
        success: { status: 204, description: "Revoked" },
        problems: ["not_found"],
      },
    },
  ];
}

function projectRoutes(services: AccessServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/projects",
      access: "admin",
      handler: (exchange) => getProjects(services, exchange),
      doc: {
        summary: "The token's projects",
        success: shown("Projects", z.object({ projects: z.array(ProjectShown) })),
        problems: [],
      },
    },
    {
      method: "POST",
      path: "/v1/projects",
      access: "admin",
      handler: (exchange) => postProject(services, exchange),
      doc: {
        summary: "Create a project (token for every project)",
        body: ProjectCreation,
        success: made("The new project", ProjectShown),
        problems: ["conflict"],
      },
    },
    {
      method: "GET",
      path: "/v1/projects/:id",
      access: "admin",
      handler: (exchange) => getProject(services, exchange),
      doc: {
        summary: "One project",
        success: shown("The project", ProjectShown),
        problems: ["not_found"],
      },
    },
    {
      method: "PATCH",
      path: "/v1/projects/:id",
      access: "admin",
      handler: (exchange) => patchProjectById(services, exchange),
      doc: {
        summary: "Change a project; members left out stay as they are",
        body: ProjectChange,
        success: shown("The project as it is now", ProjectShown),
        problems: ["not_found", "conflict"],
      },
    },
  ];
}

function keyRoutes(services: AccessServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/projects/:id/keys",
      access: "admin",
      handler: (exchange) => getKeys(services, exchange),
      doc: {
        summary: "The project's API keys, public ones whole",
        success: shown("Keys", z.object({ keys: z.array(KeyShown) })),
        problems: ["not_found"],
      },
    },
    {
      method: "POST",
      path: "/v1/projects/:id/keys",
      access: "admin",
      handler: (exchange) => postKey(services, exchange),
      doc: {
        summary: "Create an API key, or adopt one of another system; a secret one is shown once",
        body: KeyCreation,
        success: made("The new key", KeyCreated),
        problems: ["not_found", "conflict"],
      },
    },
    {
      method: "DELETE",
      path: "/v1/projects/:id/keys/:keyId",
      access: "admin",
      handler: (exchange) => deleteKey(services, exchange),
      doc: {
        summary: "Revoke a key, on every server within a second",
        success: { status: 204, description: "Revoked" },
        problems: ["not_found"],
      },
    },
    {
      method: "POST",
      path: "/v1/projects/:id/keys/:keyId/rotate",
      access: "admin",
      handler: (exchange) => postKeyRotation(services, exchange),
      doc: {
        summary: "Replace a key; the old one keeps working for `overlapSeconds`",
        body: KeyRotation,
        success: made("The new key", KeyCreated),
        problems: ["not_found", "conflict"],
      },
    },
  ];
}

function auditRoute(services: AccessServices): DocumentedRoute {
  return {
    method: "GET",
    path: "/v1/audit",
    access: "people",
    handler: (exchange) => getAudit(services, exchange),
    doc: {
      summary: "Who did what to people, projects, keys, tokens, shares, erasures and exports, " +
        "newest first; kept 400 days",
      query: AUDIT_QUERY,
      success: shown("A page of entries", AuditShown),
      problems: ["invalid_parameter"],
    },
  };
}

/** Returns the routes of sessions, tokens, projects, their keys, and the audit. */
export function accessRoutes(services: AccessServices): DocumentedRoute[] {
  return [
    ...tokenRoutes(services),
    ...apiTokenRoutes(services),
    ...projectRoutes(services),
    ...keyRoutes(services),
    auditRoute(services),
  ];
}
