/** Returns the quality that an `Accept` header gives a media type by name; 0 if it does not name it. */
function qualityOf(accept: string, type: string): number {
  for (const range of accept.split(",")) {
    const [name, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    if (name !== type) continue;
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    return quality === undefined ? 1 : Number(quality.slice("q=".length)) || 0;
  }
  return 0;
}

/**
 * Whether a request asks for `type` (in lower case) rather than for JSON: its `Accept` names the type, with a
 * quality above 0 and no lower than that of `application/json` (RFC 9110, 12.5.1). Wildcards mean JSON.
 */
export function prefersToJson({ headers }: Request, type: string): boolean {
  const accept = headers.get("accept") ?? "";
  const quality = qualityOf(accept, type);
  return quality > 0 && quality >= qualityOf(accept, "application/json");
}

/** Whether the caller takes a reply that is gzipped. */
export function acceptsGzip({ headers }: Request): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/i.test(headers.get("accept-encoding") ?? "");
}
