import { Approval } from '../approvals/approval.ts';
import { AgentMessage } from '../messages.ts';
import { choice, count, freeform, list, literal, nullable, object, optional, text, union } from '../schema.ts';
import { SessionState } from '../state.ts';
import { type EventTable, event, eventIds, sequenceNumber } from './row.ts';

const dialog = (method: string, properties: Parameters<typeof object>[0]) =>
  object({
    type: literal('extension_ui_request'),
    id: text(),
    method: literal(method),
    ...properties,
    scope: optional(choice(['admin'], undefined, 'A server sends it only to clients with this scope.')),
    ...sequenceNumber,
    ...eventIds,
  });

const timeout = optional(count('Milliseconds until the agent takes the default.'));

const ExtensionUiRequest = union(
  [
    dialog('select', { title: text(), options: list(text()), timeout, approval: optional(Approval) }),
    dialog('confirm', { title: text(), message: text(), timeout }),
    dialog('input', { title: text(), placeholder: optional(text()), timeout }),
    dialog('editor', { title: text(), prefill: optional(text()), timeout }),
    dialog('notify', { message: text(), notifyType: optional(choice(['info', 'warning', 'error'])) }),
    dialog('setStatus', { statusKey: text(), statusText: optional(text()) }),
    dialog('setWidget', {
      widgetKey: text(),
      widgetLines: optional(list(text())),
      widgetPlacement: optional(choice(['aboveEditor', 'belowEditor'])),
    }),
    dialog('setTitle', { title: text() }),
    dialog('set_editor_text', { text: text() }),
    dialog('open_url', { url: text(), instructions: optional(text()) }),
  ],
  'ExtensionUiRequestEvent',
);

/** Events for clients: dialogs of extensions, host tools and the connection. */
export const clientEvents = {
  extension_error: event('extension_error', 'An extension failed.', {
    extensionPath: text(),
    event: text(),
    error: text(),
  }),
  hook_error: event('hook_error', 'The older name of extension_error.', {
    hookPath: text(),
    event: text(),
    error: text(),
  }),
  extension_ui_request: {
    doc: 'An extension shows something; select, confirm, input and editor wait for an answer.',
    schema: ExtensionUiRequest,
  },
  extension_ui_resolved: event('extension_ui_resolved', 'A dialog was answered elsewhere or ran out.', {
    id: text(),
    by: optional(text()),
  }),
  host_tool_call: event('host_tool_call', 'Requests a call of a tool that the client runs.', {
    id: text(),
    toolCallId: text(),
    toolName: text(),
    arguments: freeform(),
  }),
  host_tool_cancel: event('host_tool_cancel', 'The client may stop running a tool.', { id: text(), targetId: text() }),
  server_connected: event('server_connected', 'The connection is attached to a session that is ready.', {
    sessionFile: nullable(text()),
    sessionId: text(),
    seq: count('Records with a greater `seq` are new.'),
    epoch: text('The numbering that `seq` belongs to: send both to resume.'),
    resume: optional(choice(['ok', 'gap'], undefined, 'Whether the missed records follow, or a snapshot instead.')),
    pingMs: count('Send `ping` this often; the server does the same with WebSocket pings.'),
  }),
  server_disconnected: event('server_disconnected', 'The server is about to close the connection.', {
    reason: choice(['error', 'close', 'timeout']),
    message: optional(text()),
    code: optional(count('The code that the connection is closed with.')),
    retryAfterMs: optional(count('When the server expects to be available again.')),
  }),
  server_error: event('server_error', 'An error of the connection or its agent.', {
    error: text(),
    code: optional(text('One of the error codes.')),
  }),
  state_synced: event('state_synced', 'The whole state after attaching.', {
    state: SessionState,
    messages: list(AgentMessage),
    cursor: optional(text('The page before these messages: `get_messages_page` with `from` = `end`.')),
  }),
} as const satisfies EventTable;
