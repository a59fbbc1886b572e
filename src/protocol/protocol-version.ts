/** The version of the protocol. Additions that older clients can ignore do not change it. */
export const PROTOCOL_VERSION = 1;

/** The version of pi whose command line, protocol and extension API tau offers. */
export const PI_VERSION = '1.5.0';
