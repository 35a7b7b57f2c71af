/** Stands for "no day" in rollups and actors, such as the previous day of an actor's first one. */
export const NEVER = -2147483648;
