import type {
  CommandName,
  EntryAppendedEvent,
  ExtensionUiRequestEvent,
  SessionState,
  SlashCommand,
} from '../../protocol/generated/vocabulary.ts';
import { type Grant, mayOpen, permits } from '../auth/grant.ts';

// Commands whose responses may contain a model.
const RESPONSES_WITH_MODELS: ReadonlySet<CommandName> = new Set([
  'get_state',
  'set_model',
  'cycle_model',
  'get_available_models',
]);

export const containsModels = (command: CommandName): boolean => RESPONSES_WITH_MODELS.has(command);

/** Removes the fields that only admins may see: addresses and headers of models, and dialogs for admins. */
export function withoutAdminData<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutAdminData) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name]) => name !== 'baseUrl' && name !== 'headers')
    .map(([name, inner]) => [name, redactField(name, inner)]);
  return Object.fromEntries(entries) as T;
}

function redactField(name: string, value: unknown): unknown {
  if (name === 'pendingUi' && Array.isArray(value))
    return value.filter((request: ExtensionUiRequestEvent) => request.scope === undefined);
  return MODEL_FIELDS.has(name) ? withoutAdminData(value) : value;
}

const MODEL_FIELDS: ReadonlySet<string> = new Set(['data', 'state', 'model', 'models']);

/** The slash commands for a client: one with paths gets no file outside of them, and without `prompt` no such command. */
export function visibleCommands(commands: readonly SlashCommand[], grant: Grant): readonly SlashCommand[] {
  const isVisible = ({ path, sourceInfo }: SlashCommand) => {
    const file = path ?? sourceInfo?.path;
    return file === undefined || mayOpen(grant, file);
  };
  if (!permits(grant, 'prompt')) return commands.filter(isVisible);
  return commands.map((command) => {
    const { path: _path, sourceInfo: _sourceInfo, ...rest } = command;
    return isVisible(command) ? command : rest;
  });
}

/** The event without the parent session that a header names. */
export function withoutParent(event: EntryAppendedEvent): EntryAppendedEvent {
  const { parentSession: _parentSession, ...entry } = event.entry as { parentSession?: string };
  return { ...event, entry: entry as EntryAppendedEvent['entry'] };
}

/** The state as that of an idle session without messages, for clients that may not view it. */
export function withoutContent({ sessionName, runId, runningBash, ...state }: SessionState): SessionState {
  return {
    ...state,
    isStreaming: false,
    isIdle: true,
    isCompacting: false,
    messageCount: 0,
    pendingMessageCount: 0,
    queuedMessageCount: 0,
    queuedMessages: [],
    todoPhases: [],
    pendingUi: [],
  };
}
