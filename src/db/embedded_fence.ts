/** The words of the fence: whether the engine may no longer change its folder, and its operations under way. */
export const FENCE_CLOSED = 0;
export const FENCE_INSIDE = 1;
export const FENCE_WORDS = 2;
