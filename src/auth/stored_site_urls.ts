import { recordAudit } from "../audit/audit.ts";
import type { Sql } from "../db/sql.ts";
import { LOCATION_LENGTH_MAX } from "../limits.ts";
import { normalSiteUrl } from "../project_values.ts";
import { BY_START } from "./default_project.ts";
import { projectName } from "./projects.ts";

interface SiteUrlRow extends Record<string, unknown> {
  project_id: number;
  id: string;
  name: string;
  site_url: string;
}

/** Site URLs that may not be in their normal form; usually there are none. */
const UNUSUAL_SITE_URLS = `
  SELECT project_id, public_id AS id, name, site_url FROM projects
  WHERE site_url !~* '^https?://[a-z0-9.-]+(?:[:/?#]|$)'
  ORDER BY project_id`;

/**
 * Rewrites site URLs that an earlier version stored as they were typed to their normal form. Look-ups did not
 * find hosts with letters beyond ASCII, so another project could take them. It stays recorded whether an operator
 * set the URL.
 */
export async function normaliseSiteUrls(sql: Sql): Promise<void> {
  const rows = await sql.query<SiteUrlRow>(UNUSUAL_SITE_URLS);
  for (const row of rows) {
    const siteUrl = normalSiteUrl(row.site_url);
    if (siteUrl === row.site_url || siteUrl.length > LOCATION_LENGTH_MAX) continue;
    await sql.transaction(async (inside) => {
      const changed = await inside.query(
        `UPDATE projects SET site_url = $3::text
        WHERE project_id = $1::int AND site_url = $2::text RETURNING project_id`,
        [row.project_id, row.site_url, siteUrl],
      );
      // Another server did it first.
      if (changed.length === 0) return;
      const subject = `${projectName(row)}: siteUrl`;
      const projectId = row.project_id;
      await recordAudit(inside, { ...BY_START, what: "project.change", subject, projectId });
    });
  }
}
