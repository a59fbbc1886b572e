import { describe, expect, it } from 'vitest';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { openTestAgent } from '../../support/agent/test-agent.ts';
import { homeWithFiles, providerConfig } from '../../support/agent/user-files.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';

/** Opens an agent whose model has this base URL. */
const openWithModelAt = (url: string, env: Record<string, string> = {}) =>
  openTestAgent('stdio', {
    home: homeWithFiles({ models: { providers: { own: providerConfig(url, { apiKey: 'sk-own' }) } } }),
    env,
    args: ['--model', 'own/m'],
  });

/** The URL of a server that has just been closed. */
async function deadAddress(): Promise<string> {
  const double = await ProviderDouble.start(completions);
  const { url } = double;
  double.close();
  return url;
}

describe('a model server', () => {
  it('that refuses connections is named in the error', async () => {
    const address = await deadAddress();
    const { peer } = await openWithModelAt(address);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'connection_lost',
      errorMessage: expect.stringMatching(new RegExp(`ECONNREFUSED.*${new URL(address).host}`)),
    });
  });

  it('that has no such path reports its error text', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ status: 404, body: '<html>No such page</html>', headers: { 'content-type': 'text/html' } });
    const { peer } = await openWithModelAt(double.url);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'model_error',
      errorMessage: '404 <html>No such page</html>',
    });
  });

  it('that redirects is not followed', async () => {
    const [double, other] = [await ProviderDouble.start(completions), await ProviderDouble.start(completions)];
    double.respondWith({ status: 307, headers: { location: `${other.url}/chat/completions` } });
    const { peer } = await openWithModelAt(double.url);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorMessage: expect.stringMatching(new RegExp(`^307 The server redirects to ${other.url}/chat/completions`)),
    });
    expect(other.requests).toEqual([]);
  });

  it.each(['HTTP_PROXY', 'all_proxy'])(
    'behind a dead proxy in %s fails with the address of the proxy',
    async (name) => {
      const { host } = new URL(await deadAddress());
      const { peer } = await openWithModelAt('http://models.invalid/v1', { [name]: `http://user:hunter2@${host}` });

      await peer.run('hi');

      expect(await waitUntilSettled(peer)).toMatchObject({
        errorCode: 'connection_lost',
        errorMessage: expect.stringContaining(`through the proxy ${host}`),
      });
      expect(JSON.stringify(peer.records)).not.toContain('hunter2');
    },
  );

  it('is reached through an HTTP proxy', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ text: 'through the proxy' });
    const { peer } = await openWithModelAt('http://models.invalid/v1', { HTTP_PROXY: double.url });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
    expect((await double.request(0)).path).toBe('http://models.invalid/v1/chat/completions');
  });

  it('on this machine is reached without the proxy', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ text: 'here' });
    const { peer } = await openWithModelAt(double.url, { HTTP_PROXY: await deadAddress() });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  });

  it('behind a proxy with an unsupported protocol fails with that protocol', async () => {
    const { peer } = await openWithModelAt('http://models.invalid/v1', { all_proxy: 'socks5://127.0.0.1:1080' });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorMessage: 'The proxy in the environment speaks socks5, not http',
    });
  });

  it('behind a malformed proxy address fails without printing the address', async () => {
    const { peer } = await openWithModelAt('http://models.invalid/v1', { HTTP_PROXY: 'http://us er:hunter2@' });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorMessage: expect.stringContaining('The proxy in the environment'),
    });
    expect(JSON.stringify(peer.records)).not.toContain('hunter2');
  });
});
