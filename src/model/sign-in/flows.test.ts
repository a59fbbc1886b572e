import { expect, it } from 'vitest';
import { IssuerDouble } from '../../../test/support/providers/issuer-double.ts';
import type { LoginEvent } from './flow.ts';
import { flows } from './flows.ts';

/** Signs in to Kimi with this host. */
async function loginAt(host: string, issuer?: string) {
  const events: LoginEvent[] = [];
  const { signal } = new AbortController();
  const interaction = { signal, notify: (event: LoginEvent) => void events.push(event), prompt: async () => '' };
  const env = { KIMI_CODE_OAUTH_HOST: host };
  const signIn = await flows['kimi-coding'].login(interaction, { agentDir: '', env, issuer });
  return { signIn, events };
}

it('[L104] the host of Kimi may be an address of this machine', async () => {
  const { url } = await IssuerDouble.start();

  const { events } = await loginAt(` ${url} `);

  expect(events).toContainEqual(expect.objectContaining({ verificationUri: `${url}/device` }));
});

it('[L104] the host of Kimi without a scheme is reached by https', async () => {
  const { host } = new URL((await IssuerDouble.start()).url);

  // The double has no TLS.
  await expect(loginAt(host)).rejects.toThrow(`${host} cannot be reached`);
});

it.each(['http://auth.example.com', 'https://user:secret@auth.example.com', 'ftp://127.0.0.1', 'not a host'])(
  '[L104] the host %s of Kimi is rejected',
  async (host) => {
    await expect(loginAt(host)).rejects.toThrow(/^KIMI_CODE_OAUTH_HOST must be a host, an https URL, or an http URL/);
  },
);

it('[L104] the issuer of models.json replaces the host of Kimi', async () => {
  const { url } = await IssuerDouble.start();

  const { events } = await loginAt('http://auth.example.com', url);

  expect(events).toContainEqual(expect.objectContaining({ verificationUri: `${url}/device` }));
});
