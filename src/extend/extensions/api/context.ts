import { contextUsage } from '../../../session/context/context-usage.ts';
import type { ExtensionCommandContext, ExtensionContext } from '../extension-api.ts';
import type { Deadline } from '../hooks/deadline.ts';
import type { ExtensionHost } from '../host.ts';
import { ModelsView } from './models-view.ts';
import { sessionPromptOptions } from './prompt-options.ts';
import { SessionDraft } from './session-draft.ts';
import { SessionView } from './session-view.ts';
import { createUi, type ExtensionUi } from './ui.ts';

export interface HandlerCall {
  readonly deadline?: Deadline | undefined;
  /** Called before the handler waits for a dialog, a session change or an idle agent. */
  readonly onWait?: (() => void) | undefined;
}

/** Creates the `ctx` objects of handlers. Each reads the current state: session and model may change meanwhile. */
export class HandlerContexts {
  readonly #host: ExtensionHost;
  readonly #shared: Omit<ExtensionContext, 'ui'>;

  constructor(host: ExtensionHost, systemPrompt: () => string) {
    this.#host = host;
    this.#shared = sharedContext(host, systemPrompt);
  }

  forCall({ deadline, onWait }: HandlerCall = {}): ExtensionContext {
    const { dialogs, session } = this.#host;
    let ui: ExtensionUi | undefined;
    // Created on first use: most handlers never read it, and some run for every delta.
    const createUiNow = () => createUi({ dialogs, signal: () => session().run?.signal, deadline, onDialog: onWait });
    return Object.create(this.#shared, {
      ui: {
        enumerable: true,
        get: () => {
          ui ??= createUiNow();
          return ui;
        },
      },
    });
  }

  forCommand(call: HandlerCall): ExtensionCommandContext {
    return Object.assign(Object.create(this.forCall(call)), this.#sessionActions(call));
  }

  #sessionActions(call: HandlerCall): Omit<ExtensionCommandContext, keyof ExtensionContext> {
    const host = this.#host;
    const finish = async (
      change: Promise<{ cancelled: boolean }>,
      withSession: ((ctx: ExtensionCommandContext) => Promise<void>) | undefined,
    ) => {
      call.onWait?.();
      const { cancelled } = await change;
      if (!cancelled) await withSession?.(this.forCommand(call));
      return { cancelled };
    };
    return {
      getSystemPromptOptions: () => sessionPromptOptions(host.session()),
      waitForIdle: () => {
        call.onWait?.();
        return host.waitForIdle();
      },
      newSession: ({ parentSession, setup, withSession } = {}) => {
        const change = async () => {
          const changed = await host.newSession({ parentSession });
          if (!changed.cancelled) await setup?.(new SessionDraft(host.session));
          return changed;
        };
        return finish(change(), withSession);
      },
      fork: (entryId, { position = 'before', withSession } = {}) => finish(host.fork(entryId, position), withSession),
      switchSession: (path, { withSession } = {}) => finish(host.switchSession(path), withSession),
      navigateTree: (targetId, options = {}) => finish(host.navigateTree(targetId, options), undefined),
      reload: () => {
        call.onWait?.();
        return host.reload();
      },
    };
  }
}

function sharedContext(host: ExtensionHost, systemPrompt: () => string): Omit<ExtensionContext, 'ui'> {
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
        .catch((error: unknown) => host.reportFailure('<runtime>', 'compact', error));
    },
    getSystemPrompt: systemPrompt,
  };
}
