/** Projects whose figures are looked at for one list, however few of them it shows. */
export const OVERVIEW_PROJECTS_MAX = 1_000;
/** Projects that are waited for where events of theirs are pending; of more, `pending` tells. */
export const OVERVIEW_AWAITED_MAX = 20;
/** Characters that projects are searched by. */
export const OVERVIEW_SEARCH_LENGTH_MAX = 200;
