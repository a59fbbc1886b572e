import { Kvm } from '@nats-io/kv';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { MAX_LOGINS } from '../../../store/tokens/login-store.ts';
import { digestOf } from '../../../store/tokens/token-record.ts';
import { owner } from '../../auth/grant.ts';
import { credentialsContract } from '../../auth/testing/credentials-contract.ts';
import { AUTH_BUCKET, bucketStream } from '../names.ts';
import { ClusterCredentials } from './cluster-credentials.ts';
import { ClusterTokens } from './cluster-tokens.ts';

const cluster = testCluster();

const bucketOf = () => new Kvm(cluster.connection.js).open(AUTH_BUCKET);

/** An empty bucket, because all tests share one. */
async function shared() {
  await cluster.connection.manager.streams.purge(bucketStream(AUTH_BUCKET));
  const bucket = await bucketOf();
  const tokens = await ClusterTokens.open({ servers: [cluster.server.url], name: 'test' }, 5000);
  onTestFinished(() => tokens.close());
  return { bucket, tokens };
}

async function openNode(onProblem: (problem: string) => void = () => {}) {
  const credentials = await ClusterCredentials.open(await cluster.connect(), { onProblem, onError: () => {} });
  onTestFinished(() => credentials.close());
  return credentials;
}

credentialsContract('credentials of a cluster', async () => {
  const { bucket, tokens } = await shared();
  return {
    open: () => openNode(),
    create: (request) => tokens.create(request),
    revoke: async (idOrName) => {
      await vi.waitFor(async () => expect((await tokens.list()).tokens).not.toEqual([]));
      await tokens.revoke(idOrName);
    },
    write: async (kind, key, entry) => void (await bucket.put(`${kind}.${key}`, JSON.stringify(entry))),
  };
});

it('[W152] an invalid value is reported once, without quoting it', async () => {
  const { bucket } = await shared();
  const problems: string[] = [];
  await bucket.put('token.00000001', '{"name":"secret"');
  await bucket.put('token.secret', '{}');
  await bucket.put('login.secret', '{}');
  await bucket.put(`login.${digestOf('x')}`, JSON.stringify({ id: 'secret', source: 'owner', expiresAt: 1 }));
  const node = await openNode((problem) => problems.push(problem));

  await node.addLogin({ source: 'owner', expiresAt: Date.now() + 60_000 });

  expect(problems).toEqual([
    'tau_auth: token 00000001 is ignored: the value must be an object',
    'tau_auth: a token is ignored: its key is no id',
    'tau_auth: a login is ignored: its key is no digest',
    'tau_auth: a login is ignored: its id is none',
  ]);
});

it('beyond the limit the oldest logins are removed', async () => {
  const { bucket } = await shared();
  const expiresAt = Date.now() + 60_000;
  for (let count = 0; count < MAX_LOGINS; count++) {
    const login = { id: `${10_000_000 + count}`, source: owner.id, expiresAt };
    await bucket.put(`login.${digestOf(`${count}`)}`, JSON.stringify(login));
  }
  const node = await openNode();

  const secret = await node.addLogin({ source: owner.id, expiresAt });

  await vi.waitFor(() => expect(node.logins).toHaveLength(MAX_LOGINS));
  expect([node.logins[0]?.sha256, node.logins.at(-1)?.sha256]).toEqual([digestOf('1'), digestOf(secret)]);
});
