/** The published client for browsers and Node. */
export type * from '../protocol/generated/vocabulary.ts';
export type { Link } from '../wire/link.ts';
export { AgentClient } from './agent-client.ts';
export type { BaseClient } from './base-client.ts';
export type { CustomTool, CustomToolCall, CustomToolOutput } from './custom-tools.ts';
export { CommandFailed, ConnectionLost } from './errors.ts';
export { EventsLost } from './event-iterator.ts';
export type { PromptRun } from './prompt-run.ts';
export type { RequestedApprovals } from './remote/initial-approvals.ts';
export { OutboxFull, type OutboxItem } from './remote/outbox.ts';
export type { ConnectionState, ConnectionStatus } from './remote/reconnecting-socket.ts';
export type { ReconnectionConfig } from './remote/reconnection.ts';
export { type RemoteOptions, RemoteSession } from './remote/remote-session.ts';
export {
  RPCClient,
  type RPCCommandWithoutId,
  type RPCEvent,
  type RPCResult,
  type RPCSuccess,
  WebSocketRPCClient,
} from './remote/rpc-client.ts';
export type { OpenSocket, Socket, SocketEvent } from './remote/socket.ts';
export { WebSocketClient, type WebSocketClientConfig, type WebSocketClientEvent } from './remote/web-socket-client.ts';
export {
  type ApprovalAnswer,
  type ApprovalRequest,
  isApprovalRequest,
  type UiAnswer,
  type UiHandler,
} from './ui-requests.ts';
export { type ConversationView, emptyView, reduce } from './view/view.ts';
