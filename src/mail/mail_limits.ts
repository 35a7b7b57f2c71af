/** The longest that one message may take, from the look-up of the server's name to its last answer. */
export const MAIL_MS_MAX = 10_000;
