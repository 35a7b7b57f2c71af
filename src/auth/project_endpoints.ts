import { recordAudit } from "../audit/audit.ts";
import type { Sql } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import { json } from "../http/reply.ts";
import { Problem } from "../problem.ts";
import {
  type ApiExchange,
  insufficientScope,
  requireEveryProject,
  requirePrincipal,
  resolveProject,
} from "./access.ts";
import { askedBy, type AuditServices } from "./audited.ts";
import type { KeyDirectory } from "./keys.ts";
import {
  changeOfProject,
  createProject,
  listProjects,
  patchProject,
  type Project,
  ProjectChange,
  ProjectCreation,
  projectName,
  requireProject,
} from "./projects.ts";
import { isPublicSite } from "./site_address.ts";
import { hostOfSite, isSiteOfAnother } from "./site_keys.ts";

export interface ProjectServices extends AuditServices {
  readonly sql: Sql;
  /** Its entries hold settings of their project. */
  readonly keys: Pick<KeyDirectory, "invalidate">;
}

/** A project as replies show it: without its internal number. */
export function projectReply({ projectId: _, ...shown }: Project): Omit<Project, "projectId"> {
  return shown;
}

/** The project named in the path. Throws `insufficient_scope` (403), `not_found`. */
export function projectOfPath(sql: Sql, { who, params }: ApiExchange): Promise<Project> {
  return requireProject(sql, resolveProject(requirePrincipal(who), params.id ?? null));
}

/** `GET /v1/projects`: `{ projects }`, those of the token. */
export async function getProjects(
  { sql }: ProjectServices,
  { who }: ApiExchange,
): Promise<Response> {
  const projects = await listProjects(sql, requirePrincipal(who).projects);
  return json({ projects: projects.map(projectReply) });
}

/** `POST /v1/projects`: 201 with the project. Needs a token for every project. */
export async function postProject(
  services: ProjectServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { who, request } = exchange;
  requireEveryProject(requirePrincipal(who));
  const wanted = await readJson(request, ProjectCreation);
  const project = await services.sql.transaction(async (inside) => {
    const made = await createProject(inside, wanted);
    const { projectId } = made;
    const subject = projectName(made);
    await recordAudit(inside, {
      ...askedBy(services, exchange),
      what: "project.create",
      subject,
      projectId,
    });
    return made;
  });
  const location = `${exchange.url.pathname}/${project.id}`;
  return json(projectReply(project), 201, { "Location": location });
}

/** `GET /v1/projects/:id`: the project. */
export async function getProject(
  { sql }: ProjectServices,
  exchange: ApiExchange,
): Promise<Response> {
  return json(projectReply(await projectOfPath(sql, exchange)));
}

/**
 * Throws unless anybody with access to the project may set this site URL; call it with the table locked. Only an
 * operator may set a URL of the server's own network, since captures fetch the site's pages, or the host of
 * another project's site: pages that send a domain instead of a key are refused if two projects have it. The
 * stored URL may always be sent again.
 */
async function assertMaySetSite(
  sql: Sql,
  stored: Project,
  siteUrl: string,
): Promise<void> {
  if (siteUrl === stored.siteUrl) return;
  if (!isPublicSite(siteUrl)) {
    throw insufficientScope(
      "This site URL is an address of the server's own machine or network. Give a public one, or let " +
        'somebody set it whose token is for every project (`"projects": ["*"]`).',
    );
  }
  const host = hostOfSite(siteUrl);
  if (host === null || host === hostOfSite(stored.siteUrl)) return;
  if (!await isSiteOfAnother(sql, host, stored.projectId)) return;
  throw new Problem(
    "conflict",
    "This is the site of another project. Only a token for every project may give two projects one site.",
  );
}

/** `PATCH /v1/projects/:id`: the changed project. */
export async function patchProjectById(
  services: ProjectServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, keys } = services;
  // 404 before the body is read.
  await projectOfPath(sql, exchange);
  const patch = await readJson(exchange.request, ProjectChange);
  const isOperator = requirePrincipal(exchange.who).projects === "*";
  const checked = isOperator ? null : patch.siteUrl ?? null;
  const project = await sql.transaction(async (inside) => {
    // One at a time, so that two requests at once cannot give two projects the same site.
    if (checked !== null) await inside.query("LOCK TABLE projects IN SHARE ROW EXCLUSIVE MODE");
    const stored = await projectOfPath(inside, exchange);
    if (checked !== null) await assertMaySetSite(inside, stored, checked);
    const changed = await patchProject(inside, stored.id, patch, isOperator);
    const { projectId } = changed;
    const subject = changeOfProject(stored, changed);
    if (subject !== null) {
      await recordAudit(inside, {
        ...askedBy(services, exchange),
        what: "project.change",
        subject,
        projectId,
      });
    }
    return changed;
  });
  keys.invalidate();
  return json(projectReply(project));
}
