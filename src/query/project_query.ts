/** The parameter of requests that are for one project, and what it means. */
export const PROJECT_QUERY = { project: "Project id. Default: the token's only project" } as const;
