import type {
  AgentEvent,
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

// The rights that decide about fields of records.
interface Viewer {
  readonly isAdmin: boolean;
  readonly canAnswerDialogs: boolean;
}

/** Whether records reach a client with all their fields. */
export const seesAllFields = ({ isAdmin, canAnswerDialogs }: Viewer): boolean => isAdmin && canAnswerDialogs;

/** Removes what a client may not see: without `admin` addresses and headers of models, and dialogs it cannot answer. */
export function visibleTo<T>(viewer: Viewer, value: T): T {
  if (seesAllFields(viewer)) return value;
  if (Array.isArray(value)) return value.map((item) => visibleTo(viewer, item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name]) => viewer.isAdmin || (name !== 'baseUrl' && name !== 'headers'))
    .map(([name, inner]) => [name, visibleField(viewer, name, inner)]);
  return Object.fromEntries(entries) as T;
}

function visibleField(viewer: Viewer, name: string, value: unknown): unknown {
  if (name === 'pendingUi' && Array.isArray(value))
    return value.filter(
      (request: ExtensionUiRequestEvent) => viewer.canAnswerDialogs && (viewer.isAdmin || request?.scope === undefined),
    );
  return MODEL_FIELDS.has(name) ? visibleTo(viewer, value) : value;
}

/** The event as a client may see it that does not see all fields. */
export function visibleEvent(viewer: Viewer, event: AgentEvent): AgentEvent {
  if (event.type === 'entry_appended') return withoutParent(event);
  return event.type === 'state_changed' ? visibleTo(viewer, event) : event;
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
function withoutParent(event: EntryAppendedEvent): EntryAppendedEvent {
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
