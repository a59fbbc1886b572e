import { describe, expect, it } from 'vitest';
import { providerKeys } from './provider-keys.ts';
import { secretsSet, withoutSecrets } from './secret-variables.ts';

const names = [...Object.values(providerKeys).flat(), 'PI_AUTH_TOKEN'];
const shared = ['AWS_ACCESS_KEY_ID', 'AWS_PROFILE', 'GH_TOKEN', 'GITHUB_TOKEN', 'HOME'];
const env = Object.fromEntries([...names, ...shared].map((name) => [name, 'x']));

describe('secret variables', () => {
  it('are withheld from tools, except those that other programs need', () => {
    expect(Object.keys(withoutSecrets(env)).sort()).toEqual(shared);
  });

  it('are listed in order if they are set', () => {
    const set = { ZAI_API_KEY: 'x', GH_TOKEN: 'x', ANTHROPIC_API_KEY: 'x', OPENAI_API_KEY: '', PI_AUTH_TOKEN: 'x' };

    expect(secretsSet(set)).toEqual(['ANTHROPIC_API_KEY', 'PI_AUTH_TOKEN', 'ZAI_API_KEY']);
  });
});
