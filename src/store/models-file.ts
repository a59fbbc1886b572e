import { join } from 'node:path';
import { check, type Schema } from '../protocol/check.ts';
import { messageOf } from '../protocol/errors.ts';
import { isObject, readJsonObject, type Values } from './json-file.ts';
import { parseLenient } from './lenient-json.ts';
import { isHeaderName, isWebAddress } from './web-address.ts';

/** What a user says of a provider in `models.json`: changes to one that is built in, or one of their own. */
export interface CustomProvider {
  readonly baseUrl?: string;
  /** As written: see `resolveValue`. */
  readonly apiKey?: string;
  readonly api?: string;
  readonly headers?: Headers;
  /** Whether the key is sent as `authorization: Bearer` too. */
  readonly authHeader?: boolean;
  readonly compat?: Values;
  readonly models?: readonly CustomModel[];
  /** Changes to built-in models, by their ids. */
  readonly modelOverrides?: Readonly<Record<string, ModelChange>>;
}

/** What may be said of any model. */
export interface ModelChange {
  readonly name?: string;
  readonly reasoning?: boolean;
  readonly input?: ('text' | 'image')[];
  readonly cost?: { readonly input?: number; output?: number; cacheRead?: number; cacheWrite?: number };
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  readonly headers?: Headers;
  readonly compat?: Values;
  readonly thinkingLevelMap?: Values;
}

/** A model of the user's own. */
export interface CustomModel extends ModelChange {
  readonly id: string;
  readonly api?: string;
  readonly baseUrl?: string;
}

/** The values are as written: see `resolveValue`. */
type Headers = Readonly<Record<string, string>>;

export interface ModelsFile {
  readonly providers: ReadonlyMap<string, CustomProvider>;
  /** One sentence for each thing that makes no sense and is left out. */
  readonly problems: readonly string[];
}

const apis = ['anthropic-messages', 'openai-completions', 'openai-responses', 'google-generative-ai'];
const bridgedApi = /^ai-sdk:(?:@[\w.-]+\/)?\w[\w.-]*$/;

const filled: Schema = { type: 'string', minLength: 1 };
const flag: Schema = { type: 'boolean' };
const anything: Schema = { type: 'object' };
const price: Schema = { type: 'number', minimum: 0 };

const change: Readonly<Record<keyof ModelChange, Schema>> = {
  name: filled,
  reasoning: flag,
  input: { type: 'array', items: { enum: ['text', 'image'] } },
  cost: { type: 'object', properties: { input: price, output: price, cacheRead: price, cacheWrite: price } },
  contextWindow: { type: 'number', minimum: 0 },
  maxTokens: { type: 'number', minimum: 1 },
  headers: anything,
  compat: anything,
  thinkingLevelMap: anything,
};

const model: Schema = {
  type: 'object',
  required: ['id'],
  properties: { ...change, id: filled, api: filled, baseUrl: filled },
};

/**
 * The providers and models that the user adds or changes in `models.json`.
 *
 * Never throws and never writes: a model or a provider that makes no sense is left out alone, and so is the file as a
 * whole.
 */
export function readModelsFile(agentDir: string): ModelsFile {
  const providers = new Map<string, CustomProvider>();
  const problems: string[] = [];
  try {
    for (const [id, value] of Object.entries(providersIn(agentDir))) {
      const { provider, found } = sifted(id, value);
      const problem = provider === undefined ? undefined : problemWith(['providers', id], provider);
      const all = problem === undefined ? found : [...found, problem];
      problems.push(...all.map((text) => `models.json: ${text}`));
      if (provider !== undefined && problem === undefined) providers.set(id, provider as CustomProvider);
    }
  } catch (error) {
    problems.push(`models.json: ${messageOf(error)}`);
  }
  return { providers, problems };
}

/** What code can do for a provider that a file cannot. */
export interface ProviderCode {
  /** The API kind that it speaks. Where its models are is its own business, then. */
  readonly api?: string | undefined;
}

/**
 * What is wrong with a provider that is described at this place; undefined when nothing is. Only the first is worth
 * telling, for more may follow from it. `code`: where there is some.
 */
export function problemWith(place: readonly string[], value: unknown, code?: ProviderCode): string | undefined {
  const [problem] = problemsOf(place, value, code);
  return problem;
}

/** Where the file is. */
export const modelsFilePath = (agentDir: string): string => join(agentDir, 'models.json');

function providersIn(agentDir: string): Values {
  const content = readJsonObject(modelsFilePath(agentDir), parseLenient) ?? {};
  const { providers = {} } = content;
  if (!isObject(providers)) throw new Error('providers must be an object');
  return providers;
}

/** A provider without those of its models that make no sense, and why they do not; undefined when no model is left. */
function sifted(id: string, value: unknown): { provider: unknown; found: readonly string[] } {
  const models = isObject(value) ? value['models'] : undefined;
  if (!isObject(value) || !Array.isArray(models) || models.length === 0) return { provider: value, found: [] };
  const found: string[] = [];
  const kept = models.filter((one: unknown, index) => {
    const misfit = check({ type: 'object', properties: { model } }, { model: one });
    if (misfit !== undefined) found.push(misfit.replace('model', `providers.${id}.models[${index}]`));
    return misfit === undefined;
  });
  return { provider: kept.length === 0 ? undefined : { ...value, models: kept }, found };
}

function* problemsOf(path: readonly string[], value: unknown, code: ProviderCode | undefined): Generator<string> {
  const misfit = check(path.reduceRight(within, schemaFor(value)), path.reduceRight(inside, value));
  if (misfit !== undefined) return yield misfit;
  const place = path.join('.');
  const provider = value as CustomProvider;
  const { models = [], modelOverrides = {} } = provider;
  yield* wordingProblems(place, provider, code?.api);
  for (const [index, one] of models.entries()) {
    const { api = provider.api, baseUrl = provider.baseUrl } = one;
    yield* wordingProblems(`${place}.models[${index}]`, one, code?.api);
    if (api === undefined) yield `${place}.api is required for its models`;
    if (baseUrl === undefined && api !== code?.api) yield `${place}.baseUrl is required for its models`;
  }
  for (const [name, one] of Object.entries(modelOverrides)) {
    yield* wordingProblems(`${place}.modelOverrides.${name}`, one, code?.api);
  }
  if (models.length === 0 && !code && saysNothing(provider)) {
    yield `${place} must have models, baseUrl, apiKey, headers, compat or modelOverrides`;
  }
}

const within = (schema: Schema, name: string): Schema => ({ type: 'object', properties: { [name]: schema } });

const inside = (value: unknown, name: string): unknown => ({ [name]: value });

function schemaFor(value: unknown): Schema {
  const changed = isObject(value) && isObject(value['modelOverrides']) ? Object.keys(value['modelOverrides']) : [];
  const overrides = changed.map((id): [string, Schema] => [id, { type: 'object', properties: change }]);
  const properties: Readonly<Record<keyof CustomProvider, Schema>> = {
    baseUrl: filled,
    apiKey: filled,
    api: filled,
    headers: anything,
    authHeader: flag,
    compat: anything,
    models: { type: 'array', items: model },
    modelOverrides: { type: 'object', properties: Object.fromEntries(overrides) },
  };
  return { type: 'object', properties };
}

type Addressed = Pick<CustomModel, 'api' | 'baseUrl' | 'headers'>;

/** What is wrong with values of the right type. */
function* wordingProblems(
  place: string,
  { api, baseUrl, headers = {} }: Addressed,
  ownApi: string | undefined,
): Generator<string> {
  if (api !== undefined && api !== ownApi && !apis.includes(api) && !bridgedApi.test(api)) {
    yield `${place}.api must be one of ${apis.join(', ')}, ai-sdk:<package>`;
  }
  if (baseUrl !== undefined && ownApi === undefined && !isWebAddress(baseUrl))
    yield `${place}.baseUrl must be an http or https URL, without a password`;
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name)) yield `${place}.headers must hold only names that HTTP allows`;
    if (typeof value !== 'string') yield `${place}.headers.${name} must be a string`;
  }
}

const saysNothing = ({ baseUrl, apiKey, headers, compat, modelOverrides }: CustomProvider) =>
  [baseUrl, apiKey, headers, compat, modelOverrides].every((said) => said === undefined);
