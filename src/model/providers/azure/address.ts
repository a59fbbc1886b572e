import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { readVariable } from '../../../store/config-value.ts';
import { resourceAddress } from '../../clouds/cloud-providers.ts';
import type { Environment } from '../../clouds/credential-cache.ts';
import { ModelFailure } from '../../request.ts';

export interface AzureTarget {
  readonly env: Environment;
  /** From models.json; empty without one. */
  readonly baseUrl: string;
  readonly operation: 'responses' | 'chat/completions';
  readonly deployment: string;
}

/** The address of a resource and the path of an operation. Throws `ModelFailure` if no resource is named. */
export function azureAddress({ env, baseUrl, operation, deployment }: AzureTarget): { baseUrl: string; path: string } {
  const given = resourceAddress(env) ?? baseUrl;
  if (!URL.canParse(given)) {
    throw new ModelFailure('model_error', 'Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME for azure');
  }
  const url = new URL(given);
  const version = readVariable(env, 'AZURE_OPENAI_API_VERSION') ?? CURRENT_VERSION;
  const isDated = /^\d/.test(version);
  if (isAzureHost(url.hostname) && basePath.test(url.pathname)) {
    url.pathname = isDated ? '/openai' : '/openai/v1';
    url.search = '';
  }
  // The versions before v1 have the deployment in the path of chat completions.
  const folder = isDated && operation === 'chat/completions' ? `/deployments/${encodeURIComponent(deployment)}` : '';
  const query = queryOf(url, version);
  url.search = '';
  url.hash = '';
  return { baseUrl: url.href.replace(/\/+$/, ''), path: `${folder}/${operation}${query}` };
}

/** The query of a gateway's address, with the version instead of its own one. */
function queryOf({ search }: URL, version: string): string {
  const given = search.slice(1).split('&').filter(Boolean);
  const isVersion = (parameter: string) => parameter.startsWith('api-version=');
  const all =
    version === CURRENT_VERSION
      ? given
      : [...given.filter((parameter) => !isVersion(parameter)), `api-version=${encodeURIComponent(version)}`];
  return all.length === 0 ? '' : `?${all.join('&')}`;
}

// It is not part of the query.
const CURRENT_VERSION = 'v1';

const isAzureHost = (host: string) => /\.(?:openai|cognitiveservices|ai)\.azure\.com$/.test(host);

// Addresses as the portal shows them; any other path belongs to a gateway.
const basePath = /^\/(?:openai(?:\/v1)?(?:\/responses|\/chat\/completions)?)?\/?$/;

/** The deployment of a model: `AZURE_OPENAI_DEPLOYMENT_NAME_MAP` has pairs `model=deployment`, with commas between. */
export function deploymentOf({ id }: Model, env: Environment): string {
  const pairs = (readVariable(env, 'AZURE_OPENAI_DEPLOYMENT_NAME_MAP') ?? '').split(',').map((pair) => pair.split('='));
  const [, deployment] = pairs.find(([name = '']) => name.trim() === id) ?? [];
  return deployment?.trim() || id;
}
