/** A slug as paths and definitions have it. */
export const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const SLUG_USAGE =
  "Use up to 63 lower-case letters, digits and hyphens, the first no hyphen.";

/** Whether a definition may have this slug; others need not be looked up. */
export function isSlug(text: string): boolean {
  return SLUG.test(text);
}
