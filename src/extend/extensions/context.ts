import { contextUsage } from '../../session/context/context-usage.ts';
import type { Deadline } from './deadline.ts';
import type { ExtensionCommandContext, ExtensionContext } from './extension-api.ts';
import type { ExtensionHost } from './host.ts';
import { ModelsView } from './models-view.ts';
import { promptOptions } from './prompt-options.ts';
import { SessionDraft } from './session-draft.ts';
import { SessionView } from './session-view.ts';
import { type ExtensionUi, uiFor } from './ui.ts';

export interface Call {
  readonly deadline?: Deadline | undefined;
  /** The handler is about to wait for somebody or something else. */
  readonly onWait?: (() => void) | undefined;
}

/** What handlers are given with their events. It always tells of the present: sessions and models may change under it. */
export class Contexts {
  readonly #host: ExtensionHost;
  readonly #shared: Omit<ExtensionContext, 'ui'>;

  constructor(host: ExtensionHost, systemPrompt: () => string) {
    this.#host = host;
    this.#shared = sharedBy(host, systemPrompt);
  }

  forCall({ deadline, onWait }: Call = {}): ExtensionContext {
    const { dialogs, session } = this.#host;
    let ui: ExtensionUi | undefined;
    // Most handlers never look at it, and some are called for every word.
    const make = () => uiFor({ dialogs, signal: () => session().run?.signal, deadline, onAsk: onWait });
    return Object.create(this.#shared, {
      ui: {
        enumerable: true,
        get: () => {
          ui ??= make();
          return ui;
        },
      },
    });
  }

  forCommand(call: Call): ExtensionCommandContext {
    return Object.assign(Object.create(this.forCall(call)), this.#moves(call));
  }

  #moves(call: Call): Omit<ExtensionCommandContext, keyof ExtensionContext> {
    const host = this.#host;
    const after = async (
      move: Promise<{ cancelled: boolean }>,
      withSession: ((ctx: ExtensionCommandContext) => Promise<void>) | undefined,
    ) => {
      call.onWait?.();
      const { cancelled } = await move;
      if (!cancelled) await withSession?.(this.forCommand(call));
      return { cancelled };
    };
    return {
      getSystemPromptOptions: () => promptOptions(host.session()),
      waitForIdle: () => {
        call.onWait?.();
        return host.idle();
      },
      newSession: ({ parentSession, setup, withSession } = {}) => {
        const move = async () => {
          const moved = await host.newSession({ parentSession });
          if (!moved.cancelled) await setup?.(new SessionDraft(host.session));
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
    };
  }
}

function sharedBy(host: ExtensionHost, systemPrompt: () => string): Omit<ExtensionContext, 'ui'> {
  const { session } = host;
  return {
    mode: host.mode,
    sessionManager: new SessionView(session),
    modelRegistry: new ModelsView(host.registry, host.agentDir),
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
      host
        .compact(customInstructions)
        .then(onComplete, (error: Error) => onError?.(error))
        .catch((error: unknown) => host.failed('<runtime>', 'compact', error));
    },
    getSystemPrompt: systemPrompt,
  };
}
