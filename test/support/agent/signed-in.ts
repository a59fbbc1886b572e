import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IssuerDouble } from '../providers/issuer-double.ts';
import { responsesApi } from '../providers/openai-responses.ts';
import { ProviderDouble } from '../providers/provider-double.ts';
import type { Home } from './test-agent.ts';
import { homeWithFiles } from './user-files.ts';

/** The token path of the ChatGPT sign-in. */
export const OPENAI_TOKEN = '/api/accounts/oauth/token';

export interface SignedInOptions {
  /** Milliseconds until the stored sign-in expires; without it there is none. */
  readonly leftMs?: number;
  /** Further fields of the stored sign-in. */
  readonly fields?: object;
  /** Further entries of auth.json. */
  readonly others?: object;
  readonly settings?: object;
}

/** A user of OpenAI whose issuer and API are doubles. */
export async function openaiUser({ leftMs, fields, others = {}, settings }: SignedInOptions = {}) {
  const issuer = await IssuerDouble.start();
  const api = await ProviderDouble.start(responsesApi);
  const stored = leftMs === undefined ? {} : { openai: { ...issuer.storedSignIn(leftMs), clientId: 'c1', ...fields } };
  const home = homeWithFiles({
    models: { providers: { openai: { baseUrl: api.url, signIn: { issuer: issuer.url } } } },
    ...(leftMs === undefined && Object.keys(others).length === 0 ? {} : { auth: { ...others, ...stored } }),
    ...(settings ? { settings } : {}),
  });
  return { issuer, api, home, args: ['--model', 'openai/gpt-6-sol'], auth: () => authFile(home) };
}

/** The content of auth.json. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into entries of every shape
export const authFile = ({ agentDir }: Home): any => JSON.parse(readFileSync(join(agentDir, 'auth.json'), 'utf8'));
