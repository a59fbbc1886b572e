import { bearerSigner } from '../../clouds/bearer-signer.ts';
import { entraTokens } from '../../clouds/entra.ts';
import type { ApiAdapter, Endpoint } from '../../endpoint.ts';
import type { ModelRequest } from '../../request.ts';
import type { ApiRoute } from '../api-route.ts';
import { completionsOver } from '../completions/adapter.ts';
import { responsesOver } from '../responses/adapter.ts';
import { azureAddress, deploymentOf } from './address.ts';

/** The Responses API of a resource in Azure. */
export const azureResponses: ApiAdapter = (endpoint) =>
  responsesOver((request) => azureRoute(endpoint, request, 'responses'));

/** The chat completions API of a resource in Azure, for models that do not have the other one. */
export const azureCompletions: ApiAdapter = (endpoint) =>
  completionsOver((request) => azureRoute(endpoint, request, 'chat/completions'));

// The resource takes the name of a deployment for that of the model.
function azureRoute(
  endpoint: Endpoint,
  { model }: ModelRequest,
  operation: 'responses' | 'chat/completions',
): ApiRoute {
  const { apiKey, cloud } = endpoint;
  const deployment = deploymentOf(model, cloud?.env ?? {});
  const { baseUrl, path } = azureAddress({ env: cloud?.env ?? {}, baseUrl: endpoint.baseUrl, operation, deployment });
  return {
    endpoint: { ...endpoint, baseUrl },
    path,
    headers: apiKey === undefined ? {} : { 'api-key': apiKey },
    signer: apiKey === undefined && cloud ? bearerSigner(entraTokens(cloud.env), cloud.cache) : undefined,
    adaptBody: (body) => ({ ...body, model: deployment }),
  };
}
