import type { ClusterGauges, ClusterObserver } from './cluster/observer.ts';
import type { Metrics } from './metrics.ts';
import type { ServerLog } from './server-log.ts';

// Upper bounds in seconds: appends take milliseconds, and up to 10 s while the NATS servers elect a leader.
const APPEND_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the metrics of a node and logs the changes in its life. `gauges` is undefined until the node has begun. */
export function clusterMetrics(
  metrics: Metrics,
  log: ServerLog,
  gauges: () => ClusterGauges | undefined,
): ClusterObserver {
  const counter = (name: string, help: string, labels?: readonly string[]) =>
    metrics.counter(`tau_cluster_${name}`, help, labels);
  const gauge = (name: string, help: string, read: (values: ClusterGauges) => number) =>
    metrics.scrape(`tau_cluster_${name}`, { kind: 'gauge', help }, () => {
      const values = gauges();
      return values ? read(values) : 0;
    });
  const appends = counter('appends_total', 'Tries to append a record to a log.', ['outcome']);
  const appendSeconds = metrics.histogram(
    'tau_cluster_append_seconds',
    'Time until a record is stored, with all its tries.',
    APPEND_BOUNDS,
  );
  const takeovers = counter('takeovers_total', 'Sessions taken over from another life of a node.', ['why']);
  const deposed = counter('deposed_total', 'Sessions lost to another node.');
  const regressed = counter('log_regressed_total', 'Logs that lack records which they acknowledged.');
  const gaps = counter('channel_gaps_total', 'Channels closed because a message of another node was missing.');
  gauge('lease_age_seconds', 'Time since the last renewal that was answered.', (values) => values.leaseAgeSeconds);
  gauge('remote_handles', 'Clients in sessions of other nodes.', (values) => values.remoteHandles);
  gauge('nats_connected', 'Whether NATS is connected.', ({ isConnected }) => Number(isConnected));
  gauge(
    'nodes_with_other_settings',
    'Other nodes with other settings or models.',
    (values) => values.nodesWithOtherSettings,
  );
  let self = {};
  return {
    onAppend: (outcome) => appends.add({ outcome }),
    onStored: (seconds) => appendSeconds.observe(seconds),
    onLife: (change, { name, incarnation }) => {
      self = { node: name, incarnation };
      const { level, message } = LIVES[change];
      log.event(level, message, self);
    },
    onTakeover: (sessionId, from, why) => {
      takeovers.add({ why });
      log.event('info', 'session taken over', { ...self, sessionId, from: from.name, why });
    },
    onDeposed: (sessionId, by) => {
      deposed.add();
      log.event('warn', 'session lost to another node', { ...self, sessionId, to: by.name });
    },
    onRegressed: (sessionId) => {
      regressed.add();
      log.event('error', 'log lacks acknowledged records', { ...self, sessionId });
    },
    onChannelGap: (from) => {
      gaps.add();
      log.event('warn', 'channel closed by a gap', { ...self, from: from.name });
    },
    onConnection: (isConnected) =>
      log.event('warn', isConnected ? 'NATS connected again' : 'NATS disconnected', { ...self }),
  };
}

const LIVES = {
  begun: { level: 'info', message: 'node began' },
  lost: { level: 'error', message: 'lease lost' },
  regained: { level: 'warn', message: 'lease regained' },
  ended: { level: 'info', message: 'node ended' },
} as const;
