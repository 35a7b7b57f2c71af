/** Visits and people. */

/** Characters of an id that names a person: no longer one is stored. */
export const PERSON_ID_LENGTH_MAX = 200;
/** What a person's page lists: ids without sign-in, devices and places, the last seen first. */
export const PERSON_IDS_MAX = 50;
export const PERSON_DEVICES_MAX = 20;
export const PERSON_PLACES_MAX = 20;
