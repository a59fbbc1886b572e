import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MAX_SERIES, Metrics, registerProcessMetrics } from './metrics.ts';

it('[W42] counters, gauges and histograms are printed in the Prometheus format', () => {
  const metrics = new Metrics();
  const commands = metrics.counter('tau_commands_total', 'Commands,\nby \\ name.', ['name', 'outcome']);
  metrics.counter('tau_crashes_total', 'Agents that died.');
  const sockets = metrics.gauge('tau_sockets', 'Open sockets.');
  const appends = metrics.histogram('tau_append_seconds', 'Appends.', [0.1, 1]);
  metrics.scrape('tau_sessions', { kind: 'gauge', help: 'Sessions.' }, () => [
    [{ state: 'live' }, 2],
    [{ state: 'parked' }, 3],
  ]);

  commands.add({ name: 'prompt', outcome: 'ok' });
  commands.add({ name: 'prompt', outcome: 'ok' }, 2);
  commands.add({ name: 'odd"\\\n', outcome: 'ok' });
  sockets.set(3);
  sockets.set(1);
  for (const seconds of [0.1, 0.5, 7]) appends.observe(seconds);

  expect(metrics.text()).toBe(`# HELP tau_commands_total Commands,\\nby \\\\ name.
# TYPE tau_commands_total counter
tau_commands_total{name="prompt",outcome="ok"} 3
tau_commands_total{name="odd\\"\\\\\\n",outcome="ok"} 1
# HELP tau_crashes_total Agents that died.
# TYPE tau_crashes_total counter
tau_crashes_total 0
# HELP tau_sockets Open sockets.
# TYPE tau_sockets gauge
tau_sockets 1
# HELP tau_append_seconds Appends.
# TYPE tau_append_seconds histogram
tau_append_seconds_bucket{le="0.1"} 1
tau_append_seconds_bucket{le="1"} 2
tau_append_seconds_bucket{le="+Inf"} 3
tau_append_seconds_sum 7.6
tau_append_seconds_count 3
# HELP tau_sessions Sessions.
# TYPE tau_sessions gauge
tau_sessions{state="live"} 2
tau_sessions{state="parked"} 3
`);
});

it('[W42] any labels stay on one line, in a limited number of series', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 300 }), (values) => {
      const metrics = new Metrics();
      const counter = metrics.counter('tau_things_total', 'Things.', ['name']);

      for (const name of values) counter.add({ name });

      const lines = metrics.text().split('\n').slice(2, -1);
      expect(lines.length).toBeLessThanOrEqual(MAX_SERIES + 1);
      const counts = lines.map((line) =>
        Number(/^tau_things_total\{name="(?:[^"\\\n]|\\[\\"n])*"\} (\d+)$/.exec(line)?.[1]),
      );
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
    }),
  );
});

it('[W42] series beyond the limit are counted as other', () => {
  const metrics = new Metrics();
  const counter = metrics.counter('tau_things_total', 'Things.', ['name']);

  for (let number = 0; number < MAX_SERIES + 5; number++) counter.add({ name: `n${number}` });
  counter.add({ name: 'n0' });

  expect(metrics.text()).toContain('{name="n0"} 2\n');
  expect(metrics.text()).toContain('{name="other"} 5\n');
});

it('a metric name has the prefix tau_ and is registered once', () => {
  const metrics = new Metrics();
  metrics.counter('tau_things_total', 'Things.');

  expect(() => metrics.gauge('tau_things_total', 'Things.')).toThrow('tau_things_total is counted already');
  expect(() => metrics.gauge('things', 'Things.')).toThrow('things is no name for a metric');
});

it('process metrics are read on scrape', () => {
  const metrics = new Metrics();

  registerProcessMetrics(metrics);

  expect(metrics.text()).toMatch(/^tau_process_cpu_seconds_total [\d.]+$/m);
  expect(metrics.text()).toMatch(/^tau_process_resident_bytes \d{7,}$/m);
});
