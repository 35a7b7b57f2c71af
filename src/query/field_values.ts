/** How the value of a field is computed where no column holds it as it is shown. */

/** The device class of a row of `contexts`, spelt out. */
export function deviceOf(alias: string): string {
  return `CASE ${alias}.device WHEN 'd' THEN 'desktop' WHEN 't' THEN 'tablet' WHEN 'm' THEN 'mobile' WHEN 'o' THEN 'other' END`;
}

/**
 * A JSON value as text: strings without quotes, JSON null as SQL null, numbers as JavaScript writes
 * them. PostgreSQL spells all of their digits out where JavaScript writes a power of ten: from 1e+21
 * on, and below 1e-6.
 */
export function jsonText(json: string): string {
  const size = `abs((${json})::numeric)`;
  return `CASE WHEN jsonb_typeof(${json}) = 'number' AND (${size} >= 1e21 OR ${size} > 0 AND ${size} < 1e-6)
    THEN regexp_replace((${json})::float8::text, 'e([+-])0*', 'e\\1')
    ELSE (${json} #>> '{}') END`;
}

/**
 * The host of a row of `referrers`, whose host is not the event's own; null where it is the site's.
 * `siteHostParam` stands for the latter.
 */
export function knownReferrerHost(alias: string, siteHostParam: string): string {
  // As withoutWww makes it: without a leading `www.` and the root's dot.
  const site = `nullif(regexp_replace(${siteHostParam}, '^www\\.|\\.$', '', 'g'), '')`;
  return `nullif(${alias}.host, ${site})`;
}
