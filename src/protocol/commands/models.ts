import { Model, ThinkingLevel, ThinkingLevelInput } from '../models.ts';
import { count, flag, list, nonEmpty, nullable, object, optional, text } from '../schema.ts';
import { type CommandTable, persist } from './row.ts';

/** Commands about models, thinking levels and credentials. */
export const models = {
  set_model: {
    doc: 'Use another model from the next model call on.',
    params: { provider: nonEmpty(), modelId: nonEmpty(), persist },
    result: Model,
    fails: ['model_not_found'],
    lane: 'session',
    scope: 'prompt',
  },
  cycle_model: {
    doc: 'Use the next available model; null when there is only one.',
    params: {},
    result: nullable(object({ model: Model, thinkingLevel: ThinkingLevel, isScoped: flag() })),
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  get_available_models: {
    doc: 'Every model that can be used now.',
    params: { builtins: optional(flag('Also the built-in models, after the others.')) },
    result: object({ models: list(Model) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  set_thinking_level: {
    doc: 'Set how much the model thinks. A level it lacks becomes the nearest it has, upwards first.',
    params: { level: ThinkingLevelInput, persist },
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  set_credential: {
    doc: 'Store a key for a provider in auth.json; its models can be used at once.',
    params: { provider: nonEmpty(), apiKey: nonEmpty() },
    result: object({ provider: text(), models: count('How many of its models can be used now.') }),
    fails: ['invalid_params'],
    lane: 'session',
    scope: 'admin',
  },
  remove_credential: {
    doc: 'Remove the key of a provider from auth.json. A key from elsewhere stays in use.',
    params: { provider: nonEmpty() },
    result: object({ provider: text(), models: count('How many of its models can still be used.') }),
    fails: ['not_found'],
    lane: 'session',
    scope: 'admin',
  },
  list_providers: {
    doc: 'The providers that a key can be stored for, the most common first. Contains no key.',
    params: {},
    result: object({
      providers: list(
        object({
          id: text(),
          models: count('How many models of it are known.'),
          configured: flag('There is a key for it.'),
          stored: flag('A key for it is in auth.json, and can be removed.'),
        }),
      ),
    }),
    fails: [],
    lane: 'read',
    scope: 'admin',
  },
  get_login_providers: {
    doc: 'The providers that `login` can sign in to. Contains no credential.',
    params: {},
    result: object({
      providers: list(
        object({
          id: text(),
          name: text('For users.'),
          available: flag('A login can be started now.'),
          authenticated: flag('There is a key or a sign-in for it.'),
        }),
      ),
    }),
    fails: [],
    lane: 'read',
    scope: 'admin',
  },
  login: {
    doc: 'Sign in to a provider. The user is guided by `extension_ui_request` (open_url, notify, input, select) and the response follows at the end, after at most 10 minutes. An abort ends it.',
    params: { providerId: nonEmpty() },
    result: object({ providerId: text(), models: count('How many of its models can be used now.') }),
    fails: ['not_found', 'not_supported', 'login_failed'],
    lane: 'control',
    scope: 'admin',
  },
  cycle_thinking_level: {
    doc: 'Use the next thinking level; null when the model does not think.',
    params: {},
    result: nullable(object({ level: ThinkingLevel })),
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  get_available_thinking_levels: {
    doc: 'The thinking levels of the current model.',
    params: {},
    result: object({ levels: list(ThinkingLevel) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
} as const satisfies CommandTable;
