/** The published client: runs in browsers and in Node. */
export type * from '../protocol/generated/vocabulary.ts';
export type { Link } from '../wire/link.ts';
export { AgentClient, CommandFailed } from './client.ts';
export { ConnectionLost } from './connection-lost.ts';
export type { CustomTool, CustomToolCall, CustomToolOutput } from './custom-tools.ts';
export { EventsLost } from './event-stream.ts';
export type { PromptRun } from './prompt-run.ts';
export type { UiAnswer, UiHandler } from './ui-requests.ts';
export { emptyView, reduce, type View } from './view.ts';
