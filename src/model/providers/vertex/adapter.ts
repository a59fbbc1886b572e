import { bearerSigner } from '../../clouds/bearer-signer.ts';
import { vertexLocation, vertexProject } from '../../clouds/cloud-providers.ts';
import { googleTokens } from '../../clouds/google-credentials.ts';
import type { ApiAdapter, Endpoint } from '../../endpoint.ts';
import { ModelFailure } from '../../request.ts';
import { anthropicOver } from '../anthropic/adapter.ts';
import { headersFor } from '../anthropic/body.ts';
import type { ApiRoute } from '../api-route.ts';
import { googleOver } from '../google/adapter.ts';

/** The models of Google's Vertex AI: Gemini, and Claude by its own API. */
export const googleVertex: ApiAdapter = (endpoint) => (request, draft) => {
  const provider = request.model.id.startsWith('claude-') ? claude(endpoint) : gemini(endpoint);
  return provider(request, draft);
};

const gemini = (endpoint: Endpoint) =>
  googleOver(({ model }) => routeTo(endpoint, `google/models/${model.id}:streamGenerateContent?alt=sse`));

// The model is in the path, the version of the API in the body.
const claude = (endpoint: Endpoint) =>
  anthropicOver(({ model }, { model: _id, ...body }) => {
    const route = routeTo(endpoint, `anthropic/models/${model.id}:streamRawPredict`);
    const { 'anthropic-beta': betas } = headersFor(undefined, { model: model.id, ...body });
    return {
      ...route,
      headers: { ...route.headers, ...(betas === undefined ? {} : { 'anthropic-beta': betas }) },
      adaptBody: () => ({ anthropic_version: 'vertex-2023-10-16', ...body }),
    };
  });

function routeTo(endpoint: Endpoint, operation: string): ApiRoute {
  const { apiKey, cloud } = endpoint;
  const env = cloud?.env ?? {};
  const [project, location] = [vertexProject(env), vertexLocation(env)];
  if (apiKey !== undefined) {
    const account = project && location ? `/projects/${project}/locations/${location}` : '';
    const baseUrl = endpoint.baseUrl || addressOf(account === '' ? 'global' : location);
    const headers = { 'x-goog-api-key': apiKey };
    return { endpoint: { ...endpoint, baseUrl }, path: `/v1${account}/publishers/${operation}`, headers };
  }
  if (!project || !location)
    throw new ModelFailure('model_error', 'Set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION for google-vertex');
  return {
    endpoint: { ...endpoint, baseUrl: endpoint.baseUrl || addressOf(location) },
    path: `/v1/projects/${project}/locations/${location}/publishers/${operation}`,
    headers: {},
    signer: cloud && bearerSigner(googleTokens(env), cloud.cache),
  };
}

// These locations have no host of their own, or one with another name.
const addressOf = (location = 'global') => {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  if (location === 'eu' || location === 'us') return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
};
