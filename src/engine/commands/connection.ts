import { choices } from '../../protocol/generated/choices.ts';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import { eventNames } from '../../protocol/generated/event-names.ts';
import { version } from '../../protocol/generated/version.ts';
import type { Params } from '../../protocol/generated/vocabulary.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import { MAX_QUEUED } from '../../session/input/queue.ts';
import { clampTimeout } from '../../system/with-timeout.ts';
import { withIds } from '../../wire/dialect.ts';
import { MAX_LINE_BYTES } from '../../wire/json-lines.ts';
import type { Agent } from '../agent.ts';
import type { ClientConnection } from '../client-connection.ts';
import type { Handlers } from '../dispatch.ts';
import { EntryFeed } from '../entry-feed.ts';

/** Handlers of `hello` and `ping`. */
export const connection = {
  hello: (params, { agent, connection }) => {
    const { capabilities, eventQueue } = connection;
    const { stream, toolOutput, legacyNames } = eventQueue.dialect;
    eventQueue.dialect = {
      ...eventQueue.dialect,
      stream: params.stream ?? stream,
      toolOutput: params.toolOutput ?? toolOutput,
      legacyNames: params.legacyNames ?? legacyNames,
    };
    if (eventQueue.dialect.toolOutput !== toolOutput) agent.broadcast.replayProgress(connection);
    capabilities.ui = params.ui ?? capabilities.ui;
    capabilities.builtins = params.builtins ?? capabilities.builtins;
    if (params.ui !== undefined) agent.addons.loaded?.dialogs.clientsChanged();
    if (params.heartbeatMs !== undefined) capabilities.heartbeatMs = clampInterval(params.heartbeatMs);
    connection.startHeartbeat(capabilities.heartbeatMs, () => heartbeat(agent));
    if (params.ids !== undefined) connection.stamp = params.ids ? stampFor(agent) : undefined;
    if (params.entries !== undefined) setEntryFeed(params, agent, connection);
    return {
      protocol: PROTOCOL_VERSION,
      server: { name: 'tau', version },
      capabilities: {
        stream: eventQueue.dialect.stream,
        toolOutput: eventQueue.dialect.toolOutput,
        legacyNames: eventQueue.dialect.legacyNames,
        entries: connection.entries,
        ids: connection.stamp !== undefined,
        ...capabilities,
      },
      limits: { maxLineBytes: MAX_LINE_BYTES, maxQueuedMessages: MAX_QUEUED },
      supported: {
        commands: Object.keys(commandRows),
        events: [...eventNames],
        features: choices.Feature.filter((feature) => feature !== 'resume'),
      },
    };
  },

  ping: () => undefined,
} satisfies Partial<Handlers>;

/** Clamps an interval to what timers support and the event loop can bear; 0 disables it. */
const clampInterval = (intervalMs: number) => (intervalMs <= 0 ? 0 : clampTimeout(Math.max(intervalMs, 10)));

const heartbeat = ({ session: { run, activity }, addons }: Agent) => ({
  type: 'heartbeat' as const,
  ...(run ? { runId: run.id } : {}),
  blockedOn: addons.loaded?.dialogs.blockedOn(run) ?? (run ? activity.blockedOn : null),
});

const stampFor = (agent: Agent): ClientConnection['stamp'] => {
  const ids = () => ({ sessionId: agent.session.log.header.id, runId: agent.session.run?.id });
  return (event) => withIds(event, ids()) as typeof event;
};

function setEntryFeed({ entries, entriesAfter }: Params<'hello'>, agent: Agent, connection: ClientConnection): void {
  if (entries) {
    connection.feed ??= new EntryFeed(connection, agent.session.log, entriesAfter);
    // The host has them already, and gets no entry of which it would confirm the storage.
    if (entriesAfter !== undefined) agent.session.transcript.hostCopy?.confirm(entriesAfter);
  } else {
    connection.feed?.stop();
    connection.feed = undefined;
  }
}
