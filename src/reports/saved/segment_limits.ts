/** The most saved segments of one project: the same as of goals. */
export const SEGMENTS_MAX = 200;
