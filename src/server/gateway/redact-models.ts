import type { CommandName } from '../../protocol/generated/vocabulary.ts';

/** Answers in which a model may stand. */
const RESPONSES_WITH_MODELS: ReadonlySet<CommandName> = new Set([
  'get_state',
  'set_model',
  'cycle_model',
  'get_available_models',
]);

export const containsModels = (command: CommandName): boolean => RESPONSES_WITH_MODELS.has(command);

/** The same without where models are served and what is sent there: that is for whoever looks after the server. */
export function withoutAddresses<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutAddresses) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name]) => name !== 'baseUrl' && name !== 'headers')
    .map(([name, inner]) => [name, MODEL_FIELDS.has(name) ? withoutAddresses(inner) : inner]);
  return Object.fromEntries(entries) as T;
}

/** Where models are, from the answer down. */
const MODEL_FIELDS: ReadonlySet<string> = new Set(['data', 'state', 'model', 'models']);
