import { expect, it } from 'vitest';
import { testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import type { NodeIdentity } from '../names.ts';
import { Channels } from './node-channel.ts';

const cluster = testCluster();

/** The channels of a node, with the messages and the ends that it has received. */
function channelsOf(identity: NodeIdentity) {
  const received: unknown[] = [];
  let closed = 0;
  const channels = new Channels({
    cluster: cluster.connection,
    identity: () => identity,
    probe: async () => 'alive',
    onMessage: (message) => void received.push(message['value']),
    onClose: () => {
      closed++;
    },
  });
  channels.listen();
  return { channels, received, closed: () => closed };
}

it('[W145] a channel that one node closes is closed on the other, and a new one works', async () => {
  const [one, two] = [
    { name: 'one', incarnation: '1' },
    { name: 'two', incarnation: '2' },
  ];
  const [a, b] = [channelsOf(one), channelsOf(two)];
  a.channels.to(two).send({ k: 'text', value: 'first' });
  await expect.poll(() => b.received).toEqual(['first']);

  b.channels.to(one).close();
  await expect.poll(a.closed).toBe(1);
  a.channels.to(two).send({ k: 'text', value: 'second' });

  await expect.poll(() => b.received).toEqual(['first', 'second']);
  a.channels.end();
  b.channels.end();
});
