/** Saved segments of one project: as many as it may have goals. */
export const SEGMENTS_MAX = 200;
