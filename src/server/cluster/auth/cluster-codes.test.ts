import { expect, it, onTestFinished } from 'vitest';
import { testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { owner } from '../../auth/grant.ts';
import { MAX_CODES } from '../../auth/login-codes.ts';
import { AUTH_BUCKET } from '../names.ts';
import { ClusterCodes } from './cluster-codes.ts';
import { WatchedBucket } from './watched-bucket.ts';

const cluster = testCluster();

async function openCodes(lifeMs?: number) {
  const bucket = await WatchedBucket.open(await cluster.connect(), AUTH_BUCKET);
  onTestFinished(() => bucket.close());
  return new ClusterCodes(bucket, lifeMs);
}

it('[W151] of two nodes that redeem a code at once one gets the grant', async () => {
  const [a, b] = [await openCodes(), await openCodes()];

  for (let round = 0; round < 20; round++) {
    const code = await a.issue(owner);
    // Afterwards this node knows all earlier codes, too.
    await b.issue(owner);
    const grants = await Promise.all([a.redeem(code), b.redeem(code)]);
    expect(grants.filter((grant) => grant === owner)).toHaveLength(1);
  }
});

it('[A15 A21] a code expires by the clock of the servers, and is used up by the late try', async () => {
  const codes = await openCodes();
  const [one, two] = [await codes.issue(owner), await codes.issue(owner)];
  const late = await openCodes(0);

  expect(await late.redeem(one)).toBeUndefined();
  expect(await codes.redeem(one)).toBeUndefined();
  expect(await codes.redeem(two)).toBe(owner);
});

it('[W151] only the rights of the owner are in a code', async () => {
  const codes = await openCodes();

  expect(await codes.redeem(await codes.issue({ ...owner, id: 'other' }))).toBeUndefined();
});

it('beyond the limit the oldest code is dropped', async () => {
  const codes = await openCodes();
  const issued: string[] = [];
  for (let count = 0; count <= MAX_CODES; count++) issued.push(await codes.issue(owner));

  const redeemed: unknown[] = [];
  for (const code of issued) redeemed.push(await codes.redeem(code));

  expect(redeemed.filter(Boolean)).toHaveLength(MAX_CODES);
  expect(redeemed[0]).toBeUndefined();
});
