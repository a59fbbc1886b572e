import { headers } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { type NodeIdentity, nodeSubject } from '../names.ts';
import { Channels } from './node-channel.ts';

const cluster = testCluster();

/** The channels of a node, with the messages and the ends that it has received. */
function channelsOf(identity: NodeIdentity, connection = cluster.connection) {
  const received: unknown[] = [];
  let closed = 0;
  const channels = new Channels({
    cluster: connection,
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

it('[W145] a node that ends sends nothing more to others, and does not fail', async () => {
  const connection = await cluster.connect();
  const a = channelsOf({ name: 'three', incarnation: '3' }, connection);
  const channel = a.channels.to({ name: 'four', incarnation: '4' });

  const drained = connection.nats.drain();
  channel.send({ k: 'text', value: 'late' });
  await drained;
  channel.send({ k: 'text', value: 'later' });
  await new Promise((resolve) => setImmediate(resolve));
  a.channels.end();

  expect(a.closed()).toBe(1);
});

it('a malformed message closes the channel and does not stop the node', async () => {
  const [one, two] = [
    { name: 'five', incarnation: '5' },
    { name: 'six', incarnation: '6' },
  ];
  const [a, b] = [channelsOf(one), channelsOf(two)];
  for (const [index, text] of ['no JSON', 'null', '{"value":"no kind"}'].entries()) {
    const head = headers();
    head.set('Tau-From', 'five.5');
    head.set('Tau-Number', '1');
    cluster.connection.nats.publish(nodeSubject(two, 'channel'), `${text}\n`, { headers: head });
    await expect.poll(b.closed).toBe(index + 1);
  }
  a.channels.to(two).send({ k: 'text', value: 'fine' });

  await expect.poll(() => b.received).toEqual(['fine']);
  a.channels.end();
  b.channels.end();
});
