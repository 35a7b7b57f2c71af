/** Places in the fence: whether the folder is taken from its engine, and the engine's operations under way. */
export const FENCE_CLOSED = 0;
export const FENCE_INSIDE = 1;
export const FENCE_WORDS = 2;
