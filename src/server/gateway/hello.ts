import type { CommandName, Params, Result } from '../../protocol/generated/vocabulary.ts';
import { clampTimeout } from '../../system/with-timeout.ts';
import { AgentResponse } from '../agent-response.ts';
import { permits } from '../auth/grant.ts';
import type { CommandRequest } from '../sessions.ts';
import type { Client } from './client.ts';
import { MAX_FRAME_BYTES, MAX_READER_FRAME_BYTES } from './client-socket.ts';

// An interval that a timer can keep and that does not starve other work; 0 disables it.
const usableInterval = (requestedMs: number) => (requestedMs <= 0 ? 0 : clampTimeout(Math.max(requestedMs, 10)));

/** Stores the preferences of one client; the shared agent gets only the combined ones. */
export function hello(
  request: CommandRequest & Params<'hello'>,
  client: Client,
  onResponse: (response: AgentResponse) => void,
): void {
  const { stream, toolOutput, legacyNames, builtins, entries, ids, ui, heartbeatMs } = request;
  const { dialect, receivesOutputDeltas } = client;
  client.dialect = {
    ...dialect,
    stream: stream ?? dialect.stream,
    toolOutput: toolOutput ?? dialect.toolOutput,
    legacyNames: legacyNames ?? dialect.legacyNames,
  };
  client.builtins = builtins ?? client.builtins;
  client.ui = ui ?? client.ui;
  client.receivesIds = ids ?? client.receivesIds;
  if (heartbeatMs !== undefined) client.heartbeatMs = usableInterval(heartbeatMs);
  const isNewReader = entries === true && !client.receivesEntries;
  client.receivesEntries = entries ?? client.receivesEntries;
  const { handle } = client;
  if (isNewReader) handle.followEntries();
  if (client.receivesOutputDeltas && !receivesOutputDeltas) handle.replayOutput();
  handle.updatePreferences();
  handle.send({ type: 'hello' }, (response) => {
    const agentHello = response.data() as Result<'hello'> | undefined;
    if (!response.success || !agentHello?.capabilities) {
      onResponse(response);
      return;
    }
    const { ui: _ui, ...capabilities } = agentHello.capabilities;
    const own = {
      ...capabilities,
      stream: client.dialect.stream,
      toolOutput: client.dialect.toolOutput,
      legacyNames: client.dialect.legacyNames,
      builtins: client.builtins,
      entries: client.receivesEntries,
      ids: client.receivesIds,
      ...(client.ui === undefined ? {} : { ui: client.ui }),
      heartbeatMs: client.heartbeatMs,
    };
    const maxFrameBytes = client.identity.grant.scopes.has('prompt') ? MAX_FRAME_BYTES : MAX_READER_FRAME_BYTES;
    const limits = { ...agentHello.limits, maxLineBytes: Math.min(agentHello.limits.maxLineBytes, maxFrameBytes) };
    const supported = {
      ...agentHello.supported,
      commands: agentHello.supported.commands.filter((name) => permits(client.identity.grant, name as CommandName)),
      features: [...agentHello.supported.features, 'resume'],
    };
    onResponse(AgentResponse.success(request.type, { ...agentHello, capabilities: own, limits, supported }));
  });
}
