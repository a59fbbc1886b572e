import { readVariable } from '../../../store/config-value.ts';
import { awsKeySource } from '../../clouds/aws-credentials.ts';
import { ambientCredentials, resourceAddress, vertexLocation, vertexProject } from '../../clouds/cloud-providers.ts';
import type { CloudAccess, Environment } from '../../clouds/credential-cache.ts';
import { entraTokens } from '../../clouds/entra.ts';
import type { Endpoint } from '../../endpoint.ts';
import { azureAddress } from '../azure/address.ts';

/**
 * Settings for the packages of clouds: pi's variables by the names of their options, and functions that give the
 * credentials which models.json or the environment names. Is empty for other packages.
 */
export function packageSettings(packageName: string, endpoint: Endpoint): Record<string, unknown> {
  const { cloud } = endpoint;
  const settingsOf = makers.find(([name]) => name.test(packageName))?.[1];
  return cloud && settingsOf ? settingsOf(endpoint, cloud) : {};
}

type Maker = (endpoint: Endpoint, cloud: CloudAccess) => Record<string, unknown>;

// A package has no signal for its credentials; they have a limit of their own.
const noAbort = () => new AbortController().signal;

const bedrockSettings: Maker = ({ apiKey }, { env, cache }) => {
  const region = readVariable(env, 'AWS_REGION') ?? readVariable(env, 'AWS_DEFAULT_REGION') ?? 'us-east-1';
  const bearer = apiKey ?? readVariable(env, 'AWS_BEARER_TOKEN_BEDROCK');
  if (bearer !== undefined) return { region, apiKey: bearer };
  if (ambientCredentials('amazon-bedrock', env, 'aws') === undefined) return { region };
  const { key, obtain } = awsKeySource(env);
  return { region, credentialProvider: () => cache.get(key, obtain, noAbort()) };
};

// The package rejects a key and a token together.
const azureSettings: Maker = ({ apiKey, baseUrl }, { env, cache, credentials }) => {
  const apiVersion = readVariable(env, 'AZURE_OPENAI_API_VERSION');
  const settings = {
    ...(baseUrl || resourceAddress(env) ? { baseURL: versionedAddress(env, baseUrl) } : {}),
    ...(apiVersion ? { apiVersion } : {}),
  };
  const key = apiKey ?? readVariable(env, 'AZURE_OPENAI_API_KEY');
  if (credentials !== 'entra') return key === undefined ? settings : { ...settings, apiKey: key };
  const tokens = entraTokens(env);
  return { ...settings, apiKey: undefined, tokenProvider: () => cache.get(tokens.key, tokens.obtain, noAbort()) };
};

const versionedAddress = (env: Environment, baseUrl: string) =>
  azureAddress({ env, baseUrl, operation: 'responses', deployment: '' }).baseUrl;

const vertexSettings: Maker = ({ apiKey }, { env }) => {
  const keyFilename = readVariable(env, 'GOOGLE_APPLICATION_CREDENTIALS');
  const key = apiKey ?? readVariable(env, 'GOOGLE_CLOUD_API_KEY');
  return {
    ...given('project', vertexProject(env)),
    ...given('location', vertexLocation(env)),
    ...given('apiKey', key),
    ...given('googleAuthOptions', keyFilename && { keyFilename }),
  };
};

const mistralSettings: Maker = ({ apiKey }, { env }) => given('apiKey', apiKey ?? readVariable(env, 'MISTRAL_API_KEY'));

const given = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value });

const makers: readonly (readonly [RegExp, Maker])[] = [
  [/^@ai-sdk\/amazon-bedrock(?:\/|$)/, bedrockSettings],
  [/^@ai-sdk\/azure$/, azureSettings],
  [/^@ai-sdk\/google-vertex(?:\/|$)/, vertexSettings],
  [/^@ai-sdk\/mistral$/, mistralSettings],
];
