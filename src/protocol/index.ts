/** The published protocol: types, the checker, and lane and scope of each command. */
export { type CheckOptions, check, type Definitions, type Schema } from './check.ts';
export { type ErrorCode, errorCodes, Refusal } from './errors.ts';
export { commandRows, type Lane, type Scope } from './generated/command-rows.ts';
export { commandParams, frameSchemas, inboundDefinitions } from './generated/inbound.ts';
export type * from './generated/vocabulary.ts';
