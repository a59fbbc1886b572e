import { readVariable } from '../../store/config-value.ts';
import type { Credential, OAuthCredential } from '../../store/credentials.ts';
import type { CustomProvider } from '../../store/models-file.ts';
import { ambientCredentials, cloudAdvice } from '../clouds/cloud-providers.ts';
import { providerKeys } from './provider-keys.ts';

/** A key for this process only, such as one from the command line. */
export interface RuntimeKey {
  readonly provider: string;
  readonly key: string;
}

/** All sources of a provider's key. */
export interface KeySources {
  readonly runtimeKey: string | undefined;
  readonly credential: Credential | undefined;
  /** Those of auth.json win over those of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly custom: CustomProvider | undefined;
  /** Where `custom` is written. */
  readonly customLocation: string;
  /** Whether a sign-in can be renewed. */
  readonly canRenew: boolean;
  /** Why sign-ins of the provider are not used. */
  readonly forbidden?: string | undefined;
}

/** A key, or where to get it. */
export type FoundKey = {
  /** Is shown to users. */
  readonly location: string;
} & (
  | { readonly kind: 'key'; readonly key: string }
  /** Still has to be resolved. */
  | { readonly kind: 'value'; readonly value: string }
  /** Still has to be turned into a key. */
  | { readonly kind: 'signIn'; readonly credential: OAuthCredential }
  | { readonly kind: 'expired' }
  /** Credentials of a cloud, which its adapter obtains. */
  | { readonly kind: 'ambient' }
  | { readonly kind: 'forbidden'; readonly reason: string }
);

/** The first key of a provider, valid or not. */
export function findKey(provider: string, sources: KeySources): FoundKey | undefined {
  const { runtimeKey, credential, env, custom } = sources;
  if (runtimeKey !== undefined) return { kind: 'key', key: runtimeKey, location: '--api-key' };
  if (credential?.type === 'api_key' && credential.key !== undefined) {
    return { kind: 'value', value: credential.key, location: `auth.json: ${provider}.key` };
  }
  if (credential?.type === 'oauth') {
    const location = `auth.json: ${provider}`;
    if (sources.forbidden !== undefined) return { kind: 'forbidden', reason: sources.forbidden, location };
    if (sources.canRenew) return { kind: 'signIn', credential, location };
    return credential.expires > Date.now()
      ? { kind: 'key', key: credential.access, location }
      : { kind: 'expired', location };
  }
  const name = variablesOf(provider).find((candidate) => readVariable(env, candidate) !== undefined);
  const key = name && readVariable(env, name);
  if (key) return { kind: 'key', key, location: name };
  if (custom?.apiKey !== undefined)
    return { kind: 'value', value: custom.apiKey, location: `${sources.customLocation}.apiKey` };
  const location = ambientCredentials(provider, env, custom?.credentials);
  return location === undefined ? undefined : { kind: 'ambient', location };
}

/** The remedy for a missing key of a provider. */
export function keyAdvice(provider: string, file: string): string {
  const advice = cloudAdvice(provider);
  if (advice !== undefined) return `${advice}. docs/clouds.md has the steps.`;
  const names = variablesOf(provider);
  const name = names.find((candidate) => candidate.endsWith('_API_KEY')) ?? names[0];
  const first = name === undefined ? `Give providers.${provider} an apiKey in models.json` : `Set ${name}`;
  return `${first}, or add ${keyEntry(provider)} to ${file}.`;
}

/** An example of a stored key. */
export const keyEntry = (provider: string): string => `{${JSON.stringify(provider)}: {"type": "api_key", "key": "…"}}`;

const variablesOf = (provider: string) =>
  (Object.hasOwn(providerKeys, provider) ? providerKeys[provider] : undefined) ?? [];
