import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, newHome } from '../agent/test-agent.ts';
import { anthropicApi } from './anthropic-messages.ts';
import { completions } from './completions.ts';
import { googleApi } from './google-generative-ai.ts';
import { responsesApi } from './openai-responses.ts';
import { type Api, ProviderDouble } from './provider-double.ts';

/** Every API that tau implements itself. */
export const apis: readonly Api[] = [anthropicApi, completions, responsesApi, googleApi];

export interface ConfiguredProviders {
  readonly home: Home;
  /** A server per API, in the order of the APIs. */
  readonly doubles: readonly ProviderDouble[];
}

// The model as models.json describes it.
export const modelDescription = {
  id: 'm',
  reasoning: true,
  input: ['text', 'image'],
  contextWindow: 100_000,
  maxTokens: 4000,
  cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.5 },
};

/** Name of the provider of an API in models.json. */
export const providerOf = ({ name }: Api) => `own-${name}`;

/** Creates a home with one provider per API in models.json and a retry delay of 1 ms. */
export async function configureProviders(
  apisInUse: readonly Api[],
  { model = {}, settings = {} }: { model?: object; settings?: object } = {},
): Promise<ConfiguredProviders> {
  const home = newHome();
  const doubles = await Promise.all(apisInUse.map((api) => ProviderDouble.start(api)));
  const providers = Object.fromEntries(
    apisInUse.map((api, index) => [
      providerOf(api),
      { baseUrl: doubles[index]?.url, apiKey: '$OWN_KEY', api: api.name, models: [{ ...modelDescription, ...model }] },
    ]),
  );
  mkdirSync(home.agentDir, { recursive: true });
  writeFileSync(join(home.agentDir, 'models.json'), JSON.stringify({ providers }));
  writeFileSync(join(home.agentDir, 'settings.json'), JSON.stringify({ retry: { baseDelayMs: 1 }, ...settings }));
  return { home, doubles };
}

export const OWN_KEY = { OWN_KEY: 'a-secret-key' };
