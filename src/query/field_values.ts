/** SQL for the values of fields that are not stored as they are shown. */

/** Returns SQL for the device class of a row of `contexts`, spelt out. */
export function deviceOf(alias: string): string {
  return `CASE ${alias}.device WHEN 'd' THEN 'desktop' WHEN 't' THEN 'tablet' WHEN 'm' THEN 'mobile' WHEN 'o' THEN 'other' END`;
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
