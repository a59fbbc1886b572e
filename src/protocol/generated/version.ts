// Generated from the protocol tables by scripts/generate.mjs. Do not edit.

/** The version of this package. */
export const version = '0.1.0';
