import type { GatewayMetrics } from './gateway/services.ts';
import type { Host } from './hosting/host.ts';
import { type Metrics, registerProcessMetrics } from './metrics.ts';

interface Sources {
  readonly hosts: () => ReadonlySet<Host>;
  readonly clients: () => number;
  readonly headersRead: () => number;
}

/** Registers the metrics of the server beside those of HTTP. */
export function serverMetrics(
  metrics: Metrics,
  { hosts, clients, headersRead }: Sources,
): GatewayMetrics & { onCrash(): void } {
  const attaches = metrics.counter('tau_attaches_total', 'Attachments of clients to sessions.', ['resume']);
  // Counted directly: this runs for every client and every delta.
  let records = 0;
  metrics.scrape(
    'tau_records_total',
    { kind: 'counter', help: 'Records of sessions handed to clients.' },
    () => records,
  );
  const commands = metrics.counter('tau_commands_total', 'Commands of clients.', ['command', 'outcome']);
  const crashes = metrics.counter('tau_agent_crashes_total', 'Agents that ended unexpectedly.');
  const gauge = (help: string) => ({ kind: 'gauge' as const, help });
  metrics.scrape(
    'tau_session_headers_read_total',
    { kind: 'counter', help: 'Headers of session files read to find sessions by id.' },
    headersRead,
  );
  metrics.scrape('tau_clients', gauge('Open sockets.'), clients);
  metrics.scrape('tau_sessions', gauge('Sessions with an agent.'), () =>
    (['running', 'waiting', 'idle'] as const).map((status) => [
      { status },
      [...hosts()].filter((host) => host.status === status).length,
    ]),
  );
  registerProcessMetrics(metrics);
  return {
    onAttach: (resume) => attaches.add({ resume: resume ?? 'none' }),
    onRecordSent: () => {
      records++;
    },
    onResponse: (command, success) => commands.add({ command, outcome: success ? 'ok' : 'refused' }),
    onCrash: () => crashes.add(),
  };
}
