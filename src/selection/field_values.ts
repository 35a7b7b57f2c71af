/** How the value of a field is computed where no column holds it as it is shown. */
import { bareHost, foreignHost } from "../referrer_host.ts";
import { type Field, isSeldomField, propertyOf } from "./filters.ts";

/** The device class of a row of `contexts`, spelt out. */
export function deviceOf(alias: string): string {
  return `CASE ${alias}.device WHEN 'd' THEN 'desktop' WHEN 't' THEN 'tablet' WHEN 'm' THEN 'mobile' WHEN 'o' THEN 'other' END`;
}

// Of the events named click and scroll these properties stand in columns of `events`; of every other
// event the columns hold something else.
const LIFTED: Readonly<Record<string, string>> = {
  x: "pointer_x",
  y: "pointer_y",
  fixed: "fixed",
  rage: "rage",
  dead: "dead",
  selector: "selector",
  viewportWidth: "viewport_width",
  viewportHeight: "viewport_height",
  documentWidth: "document_width",
  documentHeight: "document_height",
  depthPx: "depth_px",
};

/** Whether a property may stand in a column: then the stored event alone has all of its values, and histories none. */
export function isLifted(key: string): boolean {
  return Object.hasOwn(LIFTED, key);
}

/** Whether a field is to be looked up in the stored event where histories do not tell it: facts do not. */
export function isStored(field: Field): boolean {
  const key = propertyOf(field);
  return key === null ? isSeldomField(field) : isLifted(key);
}

/**
 * A property of an event as JSON, SQL null where it has none. `alias`: of the table `events`, or of
 * `facts` unless the property may stand in a column. `keyParam` stands for the key in the statement.
 */
export function propertyJson(alias: string, key: string, keyParam: string): string {
  const json = `(${alias}.properties -> ${keyParam})`;
  if (!isLifted(key)) return json;
  const lifted = `CASE WHEN ${alias}.name IN ('click', 'scroll') THEN to_jsonb(${alias}.${
    LIFTED[key]
  }) END`;
  // What a column does not hold exactly stands in the JSON, and is what was sent.
  return `coalesce(${json}, ${lifted})`;
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

/** A JSON value as a number; SQL null where it is none, numbers in text included. */
export function jsonNumber(json: string): string {
  return `CASE WHEN jsonb_typeof(${json}) = 'number' THEN (${json})::numeric END`;
}

/**
 * The host of an event's referrer without `www.`; null where there is none, or where it is the
 * event's own host or the site's. `siteHostParam` stands for the latter.
 */
export function referrerHost(alias: string, siteHostParam: string): string {
  return foreignHost(`${alias}.referrer`, `${alias}.host`, siteHostParam);
}

/** The same of a row of `referrers`, whose host is not the event's own. */
export function knownReferrerHost(alias: string, siteHostParam: string): string {
  return `nullif(${alias}.host, ${bareHost(siteHostParam)})`;
}
