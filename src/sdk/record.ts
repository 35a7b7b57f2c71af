import type { EventDetails, Properties } from "./sdk.d.ts";

/**
 * Queues an event of the page.
 * @param isDraft only stored, in case the page dies before it records the event with this id
 */
export type Record = (
  name: string,
  properties?: Properties,
  details?: EventDetails,
  id?: string,
  isDraft?: boolean,
) => void;
