/** The version of the protocol. Additions that older clients can ignore do not change it. */
export const PROTOCOL_VERSION = 1;
