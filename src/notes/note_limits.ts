/** Characters of a note, in UTF-16 units. */
export const NOTE_TEXT_LENGTH_MAX = 500;
/** Notes of one project. */
export const NOTES_MAX = 2_000;
/** How often one API key may write, change and delete a project's notes within an hour. */
export const NOTES_PER_KEY_AND_HOUR_MAX = 60;
