import { version } from '../../protocol/generated/version.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import { MAX_QUEUED } from '../../session/input/queue.ts';
import { clampTimeout } from '../../system/with-timeout.ts';
import { MAX_LINE_BYTES } from '../../wire/json-lines.ts';
import type { Agent } from '../agent.ts';
import type { Connection } from '../connection.ts';
import type { Handlers } from '../dispatch.ts';
import { EntryFeed } from '../entry-feed.ts';

export const handshake = {
  hello: (params, { agent, connection }) => {
    const { capabilities, eventQueue: outbox } = connection;
    const { stream, legacyNames } = outbox.dialect;
    outbox.dialect = {
      ...outbox.dialect,
      stream: params.stream ?? stream,
      legacyNames: params.legacyNames ?? legacyNames,
    };
    capabilities.ui = params.ui ?? capabilities.ui;
    capabilities.builtins = params.builtins ?? capabilities.builtins;
    if (params.ui !== undefined) agent.additions.stageChanged();
    if (params.heartbeatMs !== undefined) capabilities.heartbeatMs = intervalNear(params.heartbeatMs);
    connection.beat(capabilities.heartbeatMs, () => heartbeat(agent));
    if (params.entries !== undefined) follow(params.entries, agent, connection);
    return {
      protocol: PROTOCOL_VERSION,
      server: { name: 'tau', version },
      capabilities: {
        stream: outbox.dialect.stream,
        legacyNames: outbox.dialect.legacyNames,
        entries: connection.entries,
        ...capabilities,
      },
      limits: { maxLineBytes: MAX_LINE_BYTES, maxQueuedMessages: MAX_QUEUED },
    };
  },

  ping: () => undefined,
} satisfies Partial<Handlers>;

/** An interval that a timer can keep, and that leaves time for anything else; 0 is none. */
const intervalNear = (wanted: number) => (wanted <= 0 ? 0 : clampTimeout(Math.max(wanted, 10)));

const heartbeat = ({ session }: Agent) => ({
  type: 'heartbeat' as const,
  ...(session.run ? { runId: session.run.id } : {}),
  blockedOn: session.run ? session.activity.blockedOn : null,
});

function follow(wanted: boolean, agent: Agent, connection: Connection): void {
  if (wanted) connection.feed ??= new EntryFeed(connection, agent.session.log);
  else {
    connection.feed?.stop();
    connection.feed = undefined;
  }
}
