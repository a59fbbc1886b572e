/** The published client: runs in browsers and in Node. */
export type * from '../protocol/generated/vocabulary.ts';
export type { Link } from '../wire/link.ts';
export { AgentClient, CommandFailed, type PromptRun } from './client.ts';
export { ConnectionLost } from './connection-lost.ts';
export { emptyView, reduce, type View } from './view.ts';
