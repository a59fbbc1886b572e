/** A longer message from a server, or more unread output to it, closes the connection. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The longest wait for a server, whatever its entry allows and however much progress it reports. */
export const MAX_WAIT_MS = 10 * 60 * 1000;
