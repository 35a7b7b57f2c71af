/** The most bytes of large replies that their clients have not taken, over all connections. */
export const UNTAKEN_BYTES_MAX = 64 * 1024 * 1024;
