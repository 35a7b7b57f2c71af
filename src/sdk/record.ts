import type { EventDetails, Properties } from "./sdk.d.ts";

/**
 * Queues an event of the page.
 * @param isDraft kept for the case that the page dies before it records the event of this id
 */
export type Record = (
  name: string,
  properties?: Properties,
  details?: EventDetails,
  id?: string,
  isDraft?: boolean,
) => void;
