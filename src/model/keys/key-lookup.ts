import { readVariable } from '../../store/config-value.ts';
import type { Credential, OAuthCredential } from '../../store/credentials.ts';
import type { CustomProvider } from '../../store/models-file.ts';
import { providerKeys } from './provider-keys.ts';

/** A key given for this process only, such as on the command line. */
export interface RuntimeKey {
  readonly provider: string;
  readonly key: string;
}

/** Everywhere a provider's key can be. */
export interface KeySources {
  readonly runtimeKey: RuntimeKey | undefined;
  readonly credential: Credential | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly custom: CustomProvider | undefined;
  /** Where that is written. */
  readonly customLocation: string;
  /** Whether somebody knows how to make a key of a sign-in, and to renew it. */
  readonly hasSignIn: boolean;
}

/** Where a key is, or what it is. */
export type FoundKey = {
  /** As a person would call it. */
  readonly location: string;
} & (
  | { readonly kind: 'key'; readonly key: string }
  /** Still to be looked up. */
  | { readonly kind: 'value'; readonly value: string }
  /** To be made of what is stored. */
  | { readonly kind: 'signIn'; readonly credential: OAuthCredential }
  | { readonly kind: 'expired' }
);

/** The first key there is for a provider, whether or not it turns out to be good for anything. */
export function findKey(provider: string, sources: KeySources): FoundKey | undefined {
  const { runtimeKey, credential, env, custom } = sources;
  if (runtimeKey?.provider === provider) return { kind: 'key', key: runtimeKey.key, location: '--api-key' };
  if (credential?.type === 'api_key') {
    return { kind: 'value', value: credential.key, location: `auth.json: ${provider}.key` };
  }
  if (credential) {
    const location = `auth.json: ${provider}`;
    if (sources.hasSignIn) return { kind: 'signIn', credential, location };
    return credential.expires > Date.now()
      ? { kind: 'key', key: credential.access, location }
      : { kind: 'expired', location };
  }
  const name = variablesOf(provider).find((candidate) => readVariable(env, candidate) !== undefined);
  const key = name && readVariable(env, name);
  if (key) return { kind: 'key', key, location: name };
  if (custom?.apiKey === undefined) return undefined;
  return { kind: 'value', value: custom.apiKey, location: `${sources.customLocation}.apiKey` };
}

/** How a user can give a key for a provider. */
export function keyAdvice(provider: string, file: string): string {
  const names = variablesOf(provider);
  const name = names.find((candidate) => candidate.endsWith('_API_KEY')) ?? names[0];
  const first = name === undefined ? `Give providers.${provider} an apiKey in models.json` : `Set ${name}`;
  return `${first}, or add ${keyEntry(provider)} to ${file}.`;
}

/** What a stored key looks like. */
export const keyEntry = (provider: string): string => `{${JSON.stringify(provider)}: {"type": "api_key", "key": "…"}}`;

const variablesOf = (provider: string) =>
  (Object.hasOwn(providerKeys, provider) ? providerKeys[provider] : undefined) ?? [];
