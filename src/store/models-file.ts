import { join } from 'node:path';
import { check, type Schema } from '../protocol/check.ts';
import { messageOf } from '../protocol/errors.ts';
import type { ModelCost } from '../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../protocol/json.ts';
import { isHeaderName, isHttpUrl, isIssuerUrl } from './http-syntax.ts';
import { readJsonObject } from './json-file.ts';
import { parseLenient } from './lenient-json.ts';
import { withCurrentIds } from './provider-ids.ts';

/** A provider in `models.json`: changes to a built-in one, or a new one. */
export interface CustomProvider {
  readonly baseUrl?: string;
  /** As written: see `resolveValue`. */
  readonly apiKey?: string;
  readonly api?: string;
  readonly headers?: Headers;
  /** Whether the key is also sent as `authorization: Bearer`. */
  readonly authHeader?: boolean;
  /** Where credentials come from that are no key. */
  readonly credentials?: (typeof credentialKinds)[number];
  readonly compat?: JsonObject;
  readonly models?: readonly CustomModel[];
  /** Changes to built-in models, by id. */
  readonly modelOverrides?: Readonly<Record<string, ModelChange>>;
  readonly signIn?: SignInSettings;
}

/** Changes to the sign-in of a provider. */
export interface SignInSettings {
  /** Replaces the host of every address of the issuer, such as for a gateway. */
  readonly issuer?: string;
  /** The id of an application that the user has registered. */
  readonly clientId?: string;
}

/** Fields that may be set for any model. */
export interface ModelChange {
  readonly name?: string;
  readonly reasoning?: boolean;
  readonly input?: ('text' | 'image')[];
  readonly cost?: Partial<ModelCost>;
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  readonly headers?: Headers;
  readonly compat?: JsonObject;
  readonly thinkingLevelMap?: JsonObject;
  readonly samplingParams?: JsonObject;
  readonly samplingParamsByThinkingLevel?: JsonObject;
  /** These two are shown to clients only. */
  readonly inputLimits?: unknown;
  readonly promptCache?: unknown;
}

/** A model that the user defines. */
export interface CustomModel extends ModelChange {
  readonly id: string;
  readonly api?: string;
  readonly baseUrl?: string;
}

/** The values are as written: see `resolveValue`. */
type Headers = Readonly<Record<string, string>>;

export interface ModelsFile {
  readonly providers: ReadonlyMap<string, CustomProvider>;
  /** Holds one sentence per entry that is invalid and ignored. */
  readonly problems: readonly string[];
}

const apis = [
  'anthropic-messages',
  'openai-completions',
  'openai-responses',
  'openai-codex-responses',
  'google-generative-ai',
  'azure-openai-responses',
  'bedrock-converse-stream',
  'google-vertex',
  'mistral-conversations',
];
// APIs of clouds, whose address depends on the environment.
const cloudApis = ['azure-openai-responses', 'bedrock-converse-stream', 'google-vertex'];
const bridgedApi = /^ai-sdk:(?:@[\w.-]+\/)?\w[\w.-]*(?:\/\w[\w.-]*)*$/;

const credentialKinds = ['aws', 'entra', 'adc'] as const;

/** Whether the adapter of an API kind finds the address of its server by itself. */
export const hasOwnAddress = (api = ''): boolean => cloudApis.includes(api) || bridgedApi.test(api);

const nonEmpty: Schema = { type: 'string', minLength: 1 };
const flag: Schema = { type: 'boolean' };
const anyObject: Schema = { type: 'object' };
const price: Schema = { type: 'number', minimum: 0 };

const prices = { input: price, output: price, cacheRead: price, cacheWrite: price };
const costTier: Schema = {
  type: 'object',
  required: ['inputTokensAbove', ...Object.keys(prices)],
  properties: { inputTokensAbove: price, ...prices },
};

const modelChangeSchema: Readonly<Record<keyof ModelChange, Schema>> = {
  name: nonEmpty,
  reasoning: flag,
  input: { type: 'array', items: { enum: ['text', 'image'] } },
  cost: { type: 'object', properties: { ...prices, tiers: { type: 'array', items: costTier } } },
  contextWindow: { type: 'number', minimum: 0 },
  maxTokens: { type: 'number', minimum: 1 },
  headers: anyObject,
  compat: anyObject,
  thinkingLevelMap: anyObject,
  samplingParams: anyObject,
  samplingParamsByThinkingLevel: anyObject,
  inputLimits: {},
  promptCache: {},
};

const modelSchema: Schema = {
  type: 'object',
  required: ['id'],
  properties: { ...modelChangeSchema, id: nonEmpty, api: nonEmpty, baseUrl: nonEmpty },
};

/**
 * Reads the providers and models that the user adds or changes in `models.json`.
 *
 * Never throws and never writes: an invalid model or provider is ignored alone, and so is a malformed file.
 */
export function readModelsFile(agentDir: string): ModelsFile {
  const providers = new Map<string, CustomProvider>();
  const problems: string[] = [];
  try {
    for (const [id, value] of Object.entries(providersIn(agentDir))) {
      const { provider, found } = withoutInvalidModels(id, value);
      const problem = provider === undefined ? undefined : providerProblem(['providers', id], provider);
      const all = problem === undefined ? found : [...found, problem];
      problems.push(...all.map((text) => `models.json: ${text}`));
      if (provider !== undefined && problem === undefined) providers.set(id, provider as CustomProvider);
    }
  } catch (error) {
    problems.push(`models.json: ${messageOf(error)}`);
  }
  return { providers: withCurrentIds(providers), problems };
}

/** Code of an extension behind a provider. */
export interface ProviderCode {
  /** The API kind that the code implements; its models then need no `baseUrl`. */
  readonly api?: string | undefined;
}

/**
 * The first problem of a provider; undefined if it is valid. Later problems may only follow from the first. `code`: set
 * for a provider with code.
 */
export function providerProblem(path: readonly string[], value: unknown, code?: ProviderCode): string | undefined {
  const [problem] = providerProblems(path, value, code);
  return problem;
}

export const modelsFilePath = (agentDir: string): string => join(agentDir, 'models.json');

function providersIn(agentDir: string): JsonObject {
  const content = readJsonObject(modelsFilePath(agentDir), parseLenient) ?? {};
  const { providers = {} } = content;
  if (!isObject(providers)) throw new Error('providers must be an object');
  return providers;
}

/** Removes the invalid models of a provider and reports them; the provider is undefined when no model is left. */
function withoutInvalidModels(id: string, value: unknown): { provider: unknown; found: readonly string[] } {
  const models = isObject(value) ? value['models'] : undefined;
  if (!isObject(value) || !Array.isArray(models) || models.length === 0) return { provider: value, found: [] };
  const found: string[] = [];
  const kept = models.filter((entry: unknown, index) => {
    const schemaProblem = check({ type: 'object', properties: { model: modelSchema } }, { model: entry });
    if (schemaProblem !== undefined) found.push(schemaProblem.replace('model', `providers.${id}.models[${index}]`));
    return schemaProblem === undefined;
  });
  return { provider: kept.length === 0 ? undefined : { ...value, models: kept }, found };
}

function* providerProblems(path: readonly string[], value: unknown, code: ProviderCode | undefined): Generator<string> {
  const schemaProblem = check(path.reduceRight(nestSchema, schemaFor(value)), path.reduceRight(nestValue, value));
  if (schemaProblem !== undefined) return yield schemaProblem;
  const location = path.join('.');
  const provider = value as CustomProvider;
  const { models = [], modelOverrides = {} } = provider;
  yield* endpointProblems(location, provider, code?.api);
  if (provider.signIn?.issuer !== undefined && !isIssuerUrl(provider.signIn.issuer))
    yield `${location}.signIn.issuer must be an https URL, or an http URL of this machine, without a password`;
  for (const [index, entry] of models.entries()) {
    const { api = provider.api, baseUrl = provider.baseUrl } = entry;
    yield* endpointProblems(`${location}.models[${index}]`, entry, code?.api);
    if (api === undefined) yield `${location}.api is required for its models`;
    if (baseUrl === undefined && api !== code?.api && !hasOwnAddress(api))
      yield `${location}.baseUrl is required for its models`;
  }
  for (const [name, entry] of Object.entries(modelOverrides)) {
    yield* endpointProblems(`${location}.modelOverrides.${name}`, entry, code?.api);
  }
  if (models.length === 0 && !code && isEmptyProvider(provider)) {
    yield `${location} must have models, baseUrl, apiKey, headers, credentials, compat, modelOverrides or signIn`;
  }
}

const nestSchema = (schema: Schema, name: string): Schema => ({ type: 'object', properties: { [name]: schema } });

const nestValue = (value: unknown, name: string): unknown => ({ [name]: value });

function schemaFor(value: unknown): Schema {
  const changed = isObject(value) && isObject(value['modelOverrides']) ? Object.keys(value['modelOverrides']) : [];
  const overrides = changed.map((id): [string, Schema] => [id, { type: 'object', properties: modelChangeSchema }]);
  const properties: Readonly<Record<keyof CustomProvider, Schema>> = {
    baseUrl: nonEmpty,
    apiKey: nonEmpty,
    api: nonEmpty,
    headers: anyObject,
    authHeader: flag,
    credentials: { enum: credentialKinds },
    compat: anyObject,
    models: { type: 'array', items: modelSchema },
    modelOverrides: { type: 'object', properties: Object.fromEntries(overrides) },
    signIn: { type: 'object', properties: { issuer: nonEmpty, clientId: nonEmpty } },
  };
  return { type: 'object', properties };
}

type EndpointFields = Pick<CustomModel, 'api' | 'baseUrl' | 'headers'>;

/** Problems of values that have the right type. */
function* endpointProblems(
  location: string,
  { api, baseUrl, headers = {} }: EndpointFields,
  ownApi: string | undefined,
): Generator<string> {
  if (api !== undefined && api !== ownApi && !apis.includes(api) && !bridgedApi.test(api)) {
    yield `${location}.api must be one of ${apis.join(', ')}, ai-sdk:<package>`;
  }
  if (baseUrl !== undefined && ownApi === undefined && !isHttpUrl(baseUrl))
    yield `${location}.baseUrl must be an http or https URL, without a password`;
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name)) yield `${location}.headers must hold only names that HTTP allows`;
    if (typeof value !== 'string') yield `${location}.headers.${name} must be a string`;
  }
}

const isEmptyProvider = (provider: CustomProvider) => {
  const { baseUrl, apiKey, headers, credentials, compat, modelOverrides, signIn } = provider;
  return [baseUrl, apiKey, headers, credentials, compat, modelOverrides, signIn].every((field) => field === undefined);
};
