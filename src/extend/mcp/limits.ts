/** A longer message from a server ends the connection, and so does more than this that it has not read. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** A server is waited for no longer, however patient its entry is and however much progress it reports. */
export const MAX_WAIT_MS = 10 * 60 * 1000;
