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

/** Those whose host may be written otherwise in URLs of events; as a rule there is none. */
const ODD_SITE_URLS = `
  SELECT project_id, public_id AS id, name, site_url FROM projects
  WHERE site_url !~* '^https?://[a-z0-9.-]+(?:[:/?#]|$)'
  ORDER BY project_id`;

/**
 * Brings the site URLs that an earlier version has kept as they were typed to how they are kept now: no
 * look-up found a host with letters beyond ASCII, so that another project could take it. Whether an operator
 * has set them stays.
 */
export async function normaliseSiteUrls(sql: Sql): Promise<void> {
  const rows = await sql.query<SiteUrlRow>(ODD_SITE_URLS);
  for (const row of rows) {
    const siteUrl = normalSiteUrl(row.site_url);
    if (siteUrl === row.site_url || siteUrl.length > LOCATION_LENGTH_MAX) continue;
    await sql.transaction(async (inside) => {
      const changed = await inside.query(
        `UPDATE projects SET site_url = $3::text
        WHERE project_id = $1::int AND site_url = $2::text RETURNING project_id`,
        [row.project_id, row.site_url, siteUrl],
      );
      // Another server that starts was faster.
      if (changed.length === 0) return;
      const subject = `${projectName(row)}: siteUrl`;
      const projectId = row.project_id;
      await recordAudit(inside, { ...BY_START, what: "project.change", subject, projectId });
    });
  }
}
