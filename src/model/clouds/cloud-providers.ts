import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readVariable } from '../../store/config-value.ts';
import type { CredentialKind, Environment } from './credential-cache.ts';

// The needs of a provider in a cloud besides, or instead of, a key.
interface CloudProvider {
  /** The credentials that it uses without a key. */
  readonly credentials?: CredentialKind;
  /** The variables of credentials: where auth.json sets one of them, those of the process do not count. */
  readonly variables: readonly string[];
  /** The setting that is missing still; undefined if none is. */
  readonly missing?: (env: Environment, options: AddressOptions) => string | undefined;
  /** How to set the provider up. */
  readonly advice: string;
}

interface AddressOptions {
  /** Whether models.json has an address. */
  readonly hasAddress: boolean;
  readonly hasKey: boolean;
}

const cloudProviders: Readonly<Record<string, CloudProvider>> = {
  'amazon-bedrock': {
    credentials: 'aws',
    variables: [
      'AWS_BEARER_TOKEN_BEDROCK',
      'AWS_PROFILE',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      'AWS_WEB_IDENTITY_TOKEN_FILE',
    ],
    advice: 'Set AWS_PROFILE, AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  },
  azure: {
    variables: ['AZURE_OPENAI_API_KEY', 'AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET'],
    missing: (env, { hasAddress }) =>
      hasAddress || resourceAddress(env) !== undefined
        ? undefined
        : 'Set AZURE_OPENAI_RESOURCE_NAME or AZURE_OPENAI_BASE_URL.',
    advice: 'Set AZURE_OPENAI_API_KEY, or "credentials": "entra" for providers.azure in models.json',
  },
  'google-vertex': {
    credentials: 'adc',
    variables: ['GOOGLE_CLOUD_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'],
    missing: (env, { hasKey }) =>
      hasKey || (vertexProject(env) !== undefined && vertexLocation(env) !== undefined)
        ? undefined
        : 'Set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION.',
    advice:
      'Run `gcloud auth application-default login` and set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, or set GOOGLE_CLOUD_API_KEY',
  },
};

const cloudOf = (provider: string) => (Object.hasOwn(cloudProviders, provider) ? cloudProviders[provider] : undefined);

/** How to set up a provider in a cloud; undefined for another one. */
export const cloudAdvice = (provider: string): string | undefined => cloudOf(provider)?.advice;

/** The setting that a provider with credentials lacks still; undefined if none. */
export const cloudProblem = (provider: string, env: Environment, options: AddressOptions): string | undefined =>
  cloudOf(provider)?.missing?.(env, options);

/** The variables for a provider: those of auth.json win, and replace all credentials of the process. */
export function cloudEnvironment(
  provider: string,
  env: Environment,
  own: Readonly<Record<string, string>>,
): Environment {
  const { variables = [] } = cloudOf(provider) ?? {};
  const replaced = new Set(variables.some((name) => Object.hasOwn(own, name)) ? variables : []);
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !replaced.has(name))), ...own };
}

/** Where a provider finds credentials that are no key; undefined if there are none. Runs and requests nothing. */
export function ambientCredentials(
  provider: string,
  env: Environment,
  named: CredentialKind | undefined,
): string | undefined {
  const kind = named ?? cloudOf(provider)?.credentials;
  return kind && locations[kind](env, named !== undefined);
}

type Locate = (env: Environment, isNamed: boolean) => string | undefined;

const locations: Readonly<Record<CredentialKind, Locate>> = {
  aws: (env) => {
    if (readVariable(env, 'AWS_BEDROCK_SKIP_AUTH') === '1') return 'AWS_BEDROCK_SKIP_AUTH';
    if (readVariable(env, 'AWS_PROFILE')) return 'AWS_PROFILE';
    if (readVariable(env, 'AWS_ACCESS_KEY_ID') && readVariable(env, 'AWS_SECRET_ACCESS_KEY'))
      return 'AWS_ACCESS_KEY_ID';
    return [
      'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      'AWS_WEB_IDENTITY_TOKEN_FILE',
    ].find((name) => readVariable(env, name));
  },
  entra: (_env, isNamed) => (isNamed ? 'Entra ID' : undefined),
  adc: (env, isNamed) => {
    const hasMetadataServer = isNamed || readVariable(env, 'GCE_METADATA_HOST') !== undefined;
    return existsSync(adcPath(env)) || hasMetadataServer ? 'application default credentials' : undefined;
  },
};

/** The file of Google's application default credentials, which may not exist. */
export function adcPath(env: Environment): string {
  const folder = readVariable(env, 'CLOUDSDK_CONFIG') ?? join(readVariable(env, 'HOME') ?? '', '.config', 'gcloud');
  return readVariable(env, 'GOOGLE_APPLICATION_CREDENTIALS') ?? join(folder, 'application_default_credentials.json');
}

/** The address of the resource in Azure that the environment names; undefined without one. */
export function resourceAddress(env: Environment): string | undefined {
  const address = readVariable(env, 'AZURE_OPENAI_BASE_URL')?.trim();
  const name = readVariable(env, 'AZURE_OPENAI_RESOURCE_NAME')?.trim();
  return address || (name ? `https://${name}.openai.azure.com` : undefined);
}

export const vertexProject = (env: Environment): string | undefined =>
  ['GOOGLE_CLOUD_PROJECT', 'GCLOUD_PROJECT', 'ANTHROPIC_VERTEX_PROJECT_ID']
    .map((name) => readVariable(env, name))
    .find((value) => value !== undefined);

export const vertexLocation = (env: Environment): string | undefined =>
  readVariable(env, 'GOOGLE_CLOUD_LOCATION') ?? readVariable(env, 'CLOUD_ML_REGION');
