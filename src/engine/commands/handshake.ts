import { version } from '../../protocol/generated/version.ts';
import { PROTOCOL } from '../../protocol/number.ts';
import { MAX_QUEUED } from '../../session/queue.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { MAX_LINE_BYTES } from '../../wire/json-lines.ts';
import type { Agent } from '../agent.ts';
import type { Connection } from '../connection.ts';
import type { Handlers } from '../dispatch.ts';

export const handshake = {
  hello: async (params, { agent, connection }) => {
    const { capabilities, outbox } = connection;
    const { stream, legacyNames } = outbox.dialect;
    outbox.dialect = {
      ...outbox.dialect,
      stream: params.stream ?? stream,
      legacyNames: params.legacyNames ?? legacyNames,
    };
    capabilities.builtins = params.builtins ?? capabilities.builtins;
    capabilities.ui = params.ui ?? capabilities.ui;
    capabilities.heartbeatMs = params.heartbeatMs ?? capabilities.heartbeatMs;
    connection.beat(capabilities.heartbeatMs, () => heartbeat(agent));
    if (params.entries === false) {
      capabilities.entries = false;
      connection.feed = undefined;
    } else if (params.entries) {
      connection.feed ??= startFeed(agent, connection);
      await connection.feed;
    }
    return {
      protocol: PROTOCOL,
      server: { name: 'tau', version },
      capabilities: {
        stream: outbox.dialect.stream,
        legacyNames: outbox.dialect.legacyNames,
        ...capabilities,
      },
      limits: { maxLineBytes: MAX_LINE_BYTES, maxQueuedMessages: MAX_QUEUED },
    };
  },
} satisfies Partial<Handlers>;

const heartbeat = ({ session }: Agent) => ({
  type: 'heartbeat' as const,
  ...(session.run ? { runId: session.run.id } : {}),
  blockedOn: session.run ? session.activity.blockedOn : null,
});

function startFeed(agent: Agent, connection: Connection): Promise<void> {
  const feed: Promise<void> = sendEntries(agent, connection, () => connection.feed === feed);
  return feed;
}

/** Everything stored so far, at the pace of the client; new entries follow without a gap. */
async function sendEntries(agent: Agent, { capabilities, outbox }: Connection, isWanted: () => boolean): Promise<void> {
  let log: SessionLog | undefined;
  let after: string | undefined;
  while (!capabilities.entries) {
    if (log !== agent.session.log) {
      log = agent.session.log;
      after = undefined;
      outbox.event({ type: 'entry_appended', entry: log.header });
    }
    const page = log.entries({ ...(after === undefined ? {} : { after }), limit: ENTRIES_PER_PAGE });
    for (const entry of page) outbox.event({ type: 'entry_appended', entry });
    after = page.at(-1)?.id ?? after;
    if (page.length < ENTRIES_PER_PAGE) capabilities.entries = true;
    else {
      await outbox.room();
      if (!isWanted()) return;
    }
  }
}

const ENTRIES_PER_PAGE = 100;
