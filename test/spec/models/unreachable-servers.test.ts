import { describe, expect, it } from 'vitest';
import { openTestAgent } from '../../support/agent/test-agent.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { homeWithFiles, providerConfig } from '../../support/agent/user-files.ts';

/** An agent whose model is said to be at this address. */
const asking = (url: string, env: Record<string, string> = {}) =>
  openTestAgent('stdio', {
    home: homeWithFiles({ models: { providers: { own: providerConfig(url, { apiKey: 'sk-own' }) } } }),
    env,
    args: ['--model', 'own/m'],
  });

/** Where somebody listened, and nobody does now. */
async function deadAddress(): Promise<string> {
  const double = await ProviderDouble.start(completions);
  const { url } = double;
  double.close();
  return url;
}

describe('a server that cannot be reached', () => {
  it('because nobody listens is named', async () => {
    const address = await deadAddress();
    const { peer } = await asking(address);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'connection_lost',
      errorMessage: expect.stringMatching(new RegExp(`ECONNREFUSED.*${new URL(address).host}`)),
    });
  });

  it('because the path is wrong tells what it says', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ status: 404, body: '<html>No such page</html>', headers: { 'content-type': 'text/html' } });
    const { peer } = await asking(double.url);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'model_error',
      errorMessage: '404 <html>No such page</html>',
    });
  });

  it('because it sends its clients elsewhere is not followed there', async () => {
    const [double, other] = [await ProviderDouble.start(completions), await ProviderDouble.start(completions)];
    double.respondWith({ status: 307, headers: { location: `${other.url}/chat/completions` } });
    const { peer } = await asking(double.url);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorMessage: expect.stringMatching(new RegExp(`^307 The server redirects to ${other.url}/chat/completions`)),
    });
    expect(other.requests).toEqual([]);
  });

  it.each(['HTTP_PROXY', 'all_proxy'])('because the proxy in %s is dead names the proxy', async (name) => {
    const { host } = new URL(await deadAddress());
    const { peer } = await asking('http://models.invalid/v1', { [name]: `http://user:hunter2@${host}` });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'connection_lost',
      errorMessage: expect.stringContaining(`through the proxy ${host}`),
    });
    expect(JSON.stringify(peer.records)).not.toContain('hunter2');
  });

  it('is no matter where a proxy passes requests on', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ text: 'through the proxy' });
    const { peer } = await asking('http://models.invalid/v1', { HTTP_PROXY: double.url });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
    expect((await double.request(0)).path).toBe('http://models.invalid/v1/chat/completions');
  });

  it('says nothing of a proxy where it is on this machine', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ text: 'here' });
    const { peer } = await asking(double.url, { HTTP_PROXY: await deadAddress() });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  });

  it('because the proxy speaks something else says what', async () => {
    const { peer } = await asking('http://models.invalid/v1', { all_proxy: 'socks5://127.0.0.1:1080' });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorMessage: 'The proxy in the environment speaks socks5, not http',
    });
  });

  it('because the proxy is no address says so without telling it', async () => {
    const { peer } = await asking('http://models.invalid/v1', { HTTP_PROXY: 'http://us er:hunter2@' });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorMessage: expect.stringContaining('The proxy in the environment'),
    });
    expect(JSON.stringify(peer.records)).not.toContain('hunter2');
  });
});
