/** SQL for the values of fields that no column holds as they are shown. */

/** Returns SQL for the device class of a row of `contexts`, spelt out. */
export function deviceOf(alias: string): string {
  return `CASE ${alias}.device WHEN 'd' THEN 'desktop' WHEN 't' THEN 'tablet' WHEN 'm' THEN 'mobile' WHEN 'o' THEN 'other' END`;
}

/**
 * Returns SQL for a JSON value as text: strings without quotes, JSON null as SQL null, numbers as
 * JavaScript writes them. PostgreSQL writes all digits where JavaScript writes a power of ten: from
 * 1e+21 on, and below 1e-6.
 */
export function jsonText(json: string): string {
  const size = `abs((${json})::numeric)`;
  return `CASE WHEN jsonb_typeof(${json}) = 'number' AND (${size} >= 1e21 OR ${size} > 0 AND ${size} < 1e-6)
    THEN regexp_replace((${json})::float8::text, 'e([+-])0*', 'e\\1')
    ELSE (${json} #>> '{}') END`;
}

/**
 * Returns SQL for the host of a row of `referrers`; null where it is the site's own.
 * @param siteHostParam the parameter of the site's host
 */
export function knownReferrerHost(alias: string, siteHostParam: string): string {
  // Like `withoutWww`: without a leading `www.` and a trailing dot.
  const site = `nullif(regexp_replace(${siteHostParam}, '^www\\.|\\.$', '', 'g'), '')`;
  return `nullif(${alias}.host, ${site})`;
}
