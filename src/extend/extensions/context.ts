import { contextUsage } from '../../session/context-usage.ts';
import type { Deadline } from './deadline.ts';
import type { ExtensionCommandContext, ExtensionContext } from './extension-api.ts';
import type { ExtensionHost } from './host.ts';
import { ModelsView } from './models-view.ts';
import { SessionView } from './session-view.ts';
import { uiFor } from './ui.ts';

export interface CallParts {
  readonly deadline?: Deadline | undefined;
  /** The handler is about to wait for somebody or something else. */
  readonly onWait?: (() => void) | undefined;
  /** The prompt that a handler gave this run, if one did. */
  readonly systemPrompt: () => string;
}

/** What a handler is given with its event. It always tells of the present: sessions and models may change under it. */
export function contextFor(host: ExtensionHost, call: CallParts): ExtensionContext {
  const session = () => host.session();
  const views = { sessionManager: new SessionView(session), modelRegistry: new ModelsView(host.registry) };
  const ui = uiFor({
    dialogs: host.dialogs,
    signal: () => session().run?.signal,
    deadline: call.deadline,
    onAsk: call.onWait,
  });
  return {
    ui,
    ...views,
    mode: host.mode,
    get hasUI() {
      return host.hasUi();
    },
    get cwd() {
      return host.project().cwd;
    },
    get model() {
      return session().choice.model ?? undefined;
    },
    get scopedModels() {
      return host.registry.scope ?? [];
    },
    get thinkingLevel() {
      return session().choice.thinkingLevel;
    },
    get signal() {
      return session().run?.signal;
    },
    isIdle: () => session().run === undefined,
    isProjectTrusted: () => host.project().trusted,
    abort: () => host.abort(),
    hasPendingMessages: () => session().queue.length > 0,
    shutdown: () => host.shutdown(),
    getContextUsage: () => contextUsage(session().transcript.messages, session().choice.model),
    compact: ({ customInstructions, onComplete, onError } = {}) => {
      host.compact(customInstructions).then(onComplete, (error: Error) => onError?.(error));
    },
    getSystemPrompt: () => call.systemPrompt(),
  };
}

/** What the handler of a command is given. */
export function commandContextFor(host: ExtensionHost, call: CallParts): ExtensionCommandContext {
  const context = contextFor(host, call);
  const after = async (
    move: Promise<{ cancelled: boolean }>,
    withSession: ((ctx: ExtensionCommandContext) => Promise<void>) | undefined,
  ) => {
    call.onWait?.();
    const { cancelled } = await move;
    if (!cancelled) await withSession?.(commandContextFor(host, call));
    return { cancelled };
  };
  // The getters must stay getters.
  return Object.defineProperties(
    {
      waitForIdle: () => {
        call.onWait?.();
        return host.idle();
      },
      newSession: ({ parentSession, setup, withSession } = {}) => {
        const move = async () => {
          const moved = await host.newSession({ parentSession });
          if (!moved.cancelled) await setup?.(context.sessionManager);
          return moved;
        };
        return after(move(), withSession);
      },
      fork: (entryId, { position = 'before', withSession } = {}) => after(host.fork(entryId, position), withSession),
      switchSession: (path, { withSession } = {}) => after(host.switchSession(path), withSession),
      navigateTree: (targetId, options = {}) => after(host.navigate(targetId, options), undefined),
      reload: () => {
        call.onWait?.();
        return host.reload();
      },
    } satisfies Omit<ExtensionCommandContext, keyof ExtensionContext>,
    Object.getOwnPropertyDescriptors(context),
  ) as ExtensionCommandContext;
}
