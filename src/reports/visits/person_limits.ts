/** Characters of a person's id: longer ones are not stored. */
export const PERSON_ID_LENGTH_MAX = 200;
/** Rows of a person's page: anonymous ids, devices and places, the latest first. */
export const PERSON_IDS_MAX = 50;
export const PERSON_DEVICES_MAX = 20;
export const PERSON_PLACES_MAX = 20;
