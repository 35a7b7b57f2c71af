/** Stands for no day in the rollups and of actors, as for the day before an actor's first one. */
export const NEVER = -2147483648;
