import type { Model } from '../../protocol/generated/vocabulary.ts';
import { type JsonRecord, objectsIn } from './json-server.ts';

const MAX_MODELS = 500;
const LONGEST_ID = 500;

// Every model has at least this window; some servers do not report theirs.
const DEFAULT_CONTEXT_WINDOW = 4096;
const OUTPUT_TOKEN_CAP = 16_384;

/** A model as its server describes it. */
export interface LocalModelFacts {
  readonly provider: string;
  readonly port: number;
  readonly id: string;
  /** Is set where the id is not readable. */
  readonly name?: string;
  readonly contextWindow: number | undefined;
  readonly seesImages: boolean;
  readonly thinks: boolean;
  readonly usesTools?: boolean;
}

/** A model of a server on this machine, free of charge. */
export function localModel(facts: LocalModelFacts): Model {
  const contextWindow = facts.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  return {
    id: facts.id,
    name: facts.name ?? facts.id,
    api: 'openai-completions',
    provider: facts.provider,
    baseUrl: `http://127.0.0.1:${facts.port}/v1`,
    reasoning: facts.thinks,
    input: facts.seesImages ? ['text', 'image'] : ['text'],
    contextWindow,
    maxTokens: Math.min(contextWindow, OUTPUT_TOKEN_CAP),
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    ...(facts.usesTools === undefined ? {} : { supportsTools: facts.usesTools }),
  };
}

/** The entries of a model list with a valid id under this key, each id once. */
export function entriesWithId(list: unknown, key: string): { readonly id: string; readonly entry: JsonRecord }[] {
  const byId = new Map<string, JsonRecord>();
  for (const entry of objectsIn(list)) {
    const id = entry[key];
    if (typeof id === 'string' && isId(id) && !byId.has(id)) byId.set(id, entry);
    if (byId.size === MAX_MODELS) break;
  }
  return [...byId].map(([id, entry]) => ({ id, entry }));
}

const isId = (id: string) => id.trim() !== '' && id.length <= LONGEST_ID && !/\p{Cc}/u.test(id);

/** The value if it is a positive number of tokens. */
export const tokenCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
