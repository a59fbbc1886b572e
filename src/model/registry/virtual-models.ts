import { messageOf, Refusal } from '../../protocol/errors.ts';
import { choices } from '../../protocol/generated/choices.ts';
import type { AssistantMessage, Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import { ModelFailure, type ModelMessage, type Provider } from '../request.ts';
import { isThinkingLevel, nearestLevel } from '../thinking-levels.ts';

/** The API of virtual models. No adapter has it: a request is routed to another model first. */
export const VIRTUAL_API = 'pi-virtual';

/** A model and its thinking level. */
export interface LeveledModel {
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel | undefined;
}

/** A request before a model is chosen for it. */
export interface RouteRequest {
  /** The selected virtual model. */
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
  /** `user`: the first request after a message of the user; `direct`: outside a run. */
  readonly reason: 'user' | 'continuation' | 'retry' | 'direct';
  /** The model of the latest response that did not fail. */
  readonly previous?: LeveledModel | undefined;
  /** The request that is retried. */
  readonly failed?: (LeveledModel & { readonly message: AssistantMessage }) | undefined;
  /** The state that the router returned last on this branch. */
  readonly state?: unknown;
  /** The conversation, the system prompt first. */
  readonly messages: readonly (ModelMessage | { role: 'system'; content: string; timestamp: number })[];
  readonly signal: AbortSignal;
}

/** The model for one request; a new state is stored on the branch. */
export interface ModelRoute {
  readonly model: Pick<Model, 'provider' | 'id'>;
  readonly thinkingLevel: ThinkingLevel;
  readonly state?: unknown;
}

export type Router = (request: RouteRequest) => Promise<ModelRoute>;

/** A selectable model that stands for others. */
export interface VirtualModelDefinition {
  readonly provider: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** By default `off` alone. */
  readonly thinkingLevels?: readonly string[] | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly input?: readonly string[] | undefined;
  readonly route: Router;
}

/** Whether a model only stands for others. */
export const isVirtual = ({ api }: Pick<Model, 'api'>): boolean => api === VIRTUAL_API;

/** The virtual models that extensions have registered. */
export class VirtualModels {
  readonly #models = new Map<string, { readonly model: Model; readonly route: Router }>();

  /** Adds or replaces a model. Throws a `Refusal` if the definition is invalid. */
  register(definition: VirtualModelDefinition): void {
    const model = virtualModel(definition);
    this.#models.set(keyOf(model), { model, route: definition.route });
  }

  unregister(provider: string, id: string): void {
    this.#models.delete(keyOf({ provider, id }));
  }

  find(provider: string, id: string): Model | undefined {
    return this.#models.get(keyOf({ provider, id }))?.model;
  }

  /** All virtual models, in the order of registration. */
  get all(): readonly Model[] {
    return [...this.#models.values()].map(({ model }) => model);
  }

  /** The router of a virtual model; throws if the model is no longer registered. */
  routerOf(model: Model): Router {
    const found = this.#models.get(keyOf(model));
    if (!found) throw new Refusal('model_not_found', `Model not found: ${keyOf(model)}`);
    return found.route;
  }
}

const keyOf = ({ provider, id }: Pick<Model, 'provider' | 'id'>) => `${provider}/${id}`;

function virtualModel({ provider, id, name, route, ...definition }: VirtualModelDefinition): Model {
  if (typeof provider !== 'string' || !provider || typeof id !== 'string' || !id)
    throw invalid('it needs a provider and an id');
  if (typeof route !== 'function') throw invalid(`${provider}/${id} has no route function`);
  const levels = definition.thinkingLevels ?? ['off'];
  if (!Array.isArray(levels) || levels.length === 0 || !levels.every((level) => isThinkingLevel(String(level))))
    throw invalid(`${provider}/${id} has thinking levels that do not exist`);
  const input = (definition.input ?? ['text', 'image']).filter((kind) => kind === 'text' || kind === 'image');
  return {
    id,
    name: String(name ?? id),
    api: VIRTUAL_API,
    provider,
    baseUrl: '',
    reasoning: levels.some((level) => level !== 'off'),
    thinkingLevelMap: Object.fromEntries(
      choices.ThinkingLevel.map((level) => [level, levels.includes(level) ? level : null]),
    ),
    input,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: countAt(definition.contextWindow),
    maxTokens: countAt(definition.maxTokens),
  };
}

// A limit of 0 is unknown.
const countAt = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;

const invalid = (problem: string) =>
  new Refusal('invalid_params', `The virtual model cannot be registered: ${problem}`);

/** The part of the registry that routes need. */
interface RoutedModels {
  readonly virtual: VirtualModels;
  readonly find: (provider: string, id: string) => Model | undefined;
  readonly unavailableReason: (provider: string, id: string) => string;
  readonly provider: (model: Model, signal?: AbortSignal) => Promise<Provider>;
}

/** Calls the router of a virtual model; rejects with a `ModelFailure`. */
export async function callRouter({ virtual }: RoutedModels, request: RouteRequest): Promise<ModelRoute> {
  try {
    return await virtual.routerOf(request.model)(request);
  } catch (error) {
    throw routeFailure(request.model, messageOf(error));
  }
}

/** The registered model of a route, with a level that it supports. Throws a `ModelFailure` for one that cannot be called. */
export function physicalRoute(models: RoutedModels, virtual: Model, { model: to, thinkingLevel }: ModelRoute) {
  const { provider, id } = Object(to) as ModelRoute['model'];
  if (typeof provider !== 'string' || typeof id !== 'string') throw routeFailure(virtual, 'the route names no model');
  const model = models.find(provider, id);
  if (!model) throw routeFailure(virtual, models.unavailableReason(provider, id));
  if (isVirtual(model)) throw routeFailure(virtual, `${keyOf(model)} is a virtual model too`);
  const level = isThinkingLevel(String(thinkingLevel)) ? thinkingLevel : 'off';
  return { model, thinkingLevel: nearestLevel(model, level) };
}

const routeFailure = (virtual: Model, problem: string) =>
  new ModelFailure('model_error', `${keyOf(virtual)} could not be routed: ${problem}`);

/** Routes each request outside a run; its message names the model that answered. */
export const directProvider = (models: RoutedModels, virtual: Model): Provider =>
  async function* (request, draft) {
    const { thinkingLevel, signal } = request;
    const system = { role: 'system' as const, content: request.systemPrompt, timestamp: Date.now() };
    const messages = structuredClone([system, ...request.messages]);
    const route = await callRouter(models, { model: virtual, thinkingLevel, reason: 'direct', messages, signal });
    const physical = physicalRoute(models, virtual, route);
    draft.setModel(physical.model);
    yield* (await models.provider(physical.model, signal))({ ...request, ...physical, routedFrom: virtual }, draft);
  };
