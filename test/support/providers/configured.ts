import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, newHome } from '../open.ts';
import { anthropicApi } from './anthropic-messages.ts';
import { completions } from './completions.ts';
import { type Api, ProviderDouble } from './double.ts';
import { googleApi } from './google-generative-ai.ts';
import { responsesApi } from './openai-responses.ts';

/** Every API kind that tau speaks itself. */
export const apis: readonly Api[] = [anthropicApi, completions, responsesApi, googleApi];

export interface Configured {
  readonly home: Home;
  /** One server for each API, in their order. */
  readonly doubles: readonly ProviderDouble[];
}

/** A model as these users describe it. */
export const described = {
  id: 'm',
  reasoning: true,
  input: ['text', 'image'],
  contextWindow: 100_000,
  maxTokens: 4000,
  cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.5 },
};

/** The provider that a double plays. */
export const providerOf = ({ name }: Api) => `own-${name}`;

/** A user who has described a server for each of these APIs in models.json, and tries again at once. */
export async function configured(
  use: readonly Api[],
  { model = {}, settings = {} }: { model?: object; settings?: object } = {},
): Promise<Configured> {
  const home = newHome();
  const doubles = await Promise.all(use.map((api) => ProviderDouble.start(api)));
  const providers = Object.fromEntries(
    use.map((api, index) => [
      providerOf(api),
      { baseUrl: doubles[index]?.url, apiKey: '$OWN_KEY', api: api.name, models: [{ ...described, ...model }] },
    ]),
  );
  mkdirSync(home.agentDir, { recursive: true });
  writeFileSync(join(home.agentDir, 'models.json'), JSON.stringify({ providers }));
  writeFileSync(join(home.agentDir, 'settings.json'), JSON.stringify({ retry: { baseDelayMs: 1 }, ...settings }));
  return { home, doubles };
}

export const OWN_KEY = { OWN_KEY: 'a-secret-key' };
