import type { Model } from '../../protocol/generated/vocabulary.ts';
import { objectsOf, type Said } from './json-server.ts';

/** More than this nobody runs on one machine. */
const MAX_MODELS = 500;
const LONGEST_ID = 500;

/** A window that is sure to fit, for a server that does not tell its own. */
const SMALLEST_WINDOW = 4096;
const LONGEST_ANSWER = 16_384;

/** What a server tells of a model. */
export interface LocalModel {
  readonly provider: string;
  readonly port: number;
  readonly id: string;
  /** Where the id is no name for people. */
  readonly name?: string;
  readonly contextWindow: number | undefined;
  readonly seesImages: boolean;
  readonly thinks: boolean;
  readonly usesTools?: boolean;
}

/** A model of a server on this machine. It costs nothing. */
export function localModel(told: LocalModel): Model {
  const contextWindow = told.contextWindow ?? SMALLEST_WINDOW;
  return {
    id: told.id,
    name: told.name ?? told.id,
    api: 'openai-completions',
    provider: told.provider,
    baseUrl: `http://127.0.0.1:${told.port}/v1`,
    reasoning: told.thinks,
    input: told.seesImages ? ['text', 'image'] : ['text'],
    contextWindow,
    maxTokens: Math.min(contextWindow, LONGEST_ANSWER),
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    ...(told.usesTools === undefined ? {} : { supportsTools: told.usesTools }),
  };
}

/** The entries of a list of models that have an id under this key, each id once. */
export function listed(list: unknown, key: string): { readonly id: string; readonly entry: Said }[] {
  const byId = new Map<string, Said>();
  for (const entry of objectsOf(list)) {
    const id = entry[key];
    if (typeof id === 'string' && isId(id) && !byId.has(id)) byId.set(id, entry);
    if (byId.size === MAX_MODELS) break;
  }
  return [...byId].map(([id, entry]) => ({ id, entry }));
}

const isId = (id: string) => id.trim() !== '' && id.length <= LONGEST_ID && !/\p{Cc}/u.test(id);

/** A number of tokens, if it is one. */
export const tokens = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
