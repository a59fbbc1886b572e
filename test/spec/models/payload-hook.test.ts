import { expect, it } from 'vitest';
import { openAgent } from '../../../src/index.ts';
import { type Hooks, neverReturns } from '../../support/agent/hooked-agent.ts';
import { apis, configureProviders, OWN_KEY, providerOf } from '../../support/providers/configured-providers.ts';
import type { Api } from '../../support/providers/provider-double.ts';
import { sdkCompletions } from '../../support/providers/sdk-completions.ts';

const all: readonly Api[] = [...apis, sdkCompletions];

/** Opens an agent that uses this API and this payload hook. */
async function openWithPayloadHook(api: Api, payload: NonNullable<Hooks['payload']>) {
  const { home, doubles } = await configureProviders([api], { settings: { retry: { enabled: false } } });
  const agent = await openAgent({
    ...home,
    env: { ...process.env, ...OWN_KEY },
    model: `${providerOf(api)}/m`,
    hooks: { payload },
  });
  return { ...agent, double: doubles[0] };
}

it.each(all)('[L34] the payload hook sees and changes the body of $name before it is sent', async (api) => {
  const seen: object[] = [];
  await using agent = await openWithPayloadHook(api, async (payload) => {
    seen.push(structuredClone(payload as object));
    // Changes made in place are sent as well.
    if (seen.length === 1) Object.assign(payload as object, { extra: 1 });
    return seen.length === 2 ? { ...(payload as object), extra: 2 } : undefined;
  });
  agent.double?.respondWith({ text: 'one' }, { text: 'two' }, { text: 'three' });

  for (const word of ['first', 'second', 'third']) await agent.client.promptAndWait(word);

  const posted = agent.double?.requests.map(({ body }) => body) ?? [];
  expect(posted.map(({ extra }) => extra)).toEqual([1, 2, undefined]);
  expect(posted[2]).toEqual(seen[2]);
  expect(JSON.stringify(seen[0])).toContain('first');
});

it.each(all)('[L34] a body of $name that is not an object is rejected', async (api) => {
  await using agent = await openWithPayloadHook(api, async () => 'hello');

  const { messages, settled } = await agent.client.promptAndWait('go');

  expect(settled).toMatchObject({ outcome: 'error', errorCode: 'model_error' });
  expect(messages.at(-1)).toMatchObject({
    errorMessage: 'A hook wants to post a string where the body must be an object',
  });
  expect(agent.double?.requests).toEqual([]);
});

it.each(all)(
  '[L34] a payload hook that never returns does not delay an abort of $name, and nothing is sent',
  async (api) => {
    const { called, wait } = neverReturns();
    await using agent = await openWithPayloadHook(api, wait);
    const run = agent.client.promptAndWait('go');
    await called;

    await agent.client.abort();

    expect((await run).settled).toMatchObject({ outcome: 'aborted' });
    expect(agent.double?.requests).toEqual([]);
  },
);

it.each(all)('[L34] a payload hook that rejects fails the model response of $name with its error', async (api) => {
  await using agent = await openWithPayloadHook(api, async () => Promise.reject(new Error('I will not')));

  const { messages } = await agent.client.promptAndWait('go');

  expect(messages.at(-1)).toMatchObject({ stopReason: 'error', errorMessage: 'I will not' });
  expect(agent.double?.requests).toEqual([]);
});
