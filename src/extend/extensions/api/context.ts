import type { OtherTools, ToolInvocation } from '../../../agent/tool.ts';
import type {
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionToolContext,
  ExtensionToolResult,
  ReplacedSessionContext,
} from '../extension-api.ts';
import type { Deadline } from '../hooks/deadline.ts';
import { parseCustomMessage, toBlocks } from '../hooks/validate-results.ts';
import type { ExtensionHost } from '../host.ts';
import { ModelsView } from './models-view.ts';
import { sessionPromptOptions } from './prompt-options.ts';
import { agentEntries, SessionView } from './session-view.ts';
import { SessionWriter } from './session-writer.ts';
import { createUi, type ExtensionUi, type UiDependencies } from './ui.ts';

export interface HandlerCall {
  /** The path of the extension. */
  readonly path: string;
  readonly deadline?: Deadline | undefined;
  /** Called before the handler waits for a dialog, a session change or an idle agent. */
  readonly onWait?: (() => void) | undefined;
}

/** The parts of the handler runner that contexts use. */
export interface ContextSource {
  readonly systemPrompt: () => string;
  /** Called when a dialog opens; the returned function is called when it ends. */
  readonly onPrompt: UiDependencies['onPrompt'];
}

/** Creates the `ctx` objects of handlers. Each reads the current state: session and model may change meanwhile. */
export class HandlerContexts {
  readonly #host: ExtensionHost;
  readonly #onPrompt: ContextSource['onPrompt'];
  readonly #shared: PropertyDescriptorMap;

  constructor(host: ExtensionHost, { systemPrompt, onPrompt }: ContextSource) {
    this.#host = host;
    this.#onPrompt = onPrompt;
    this.#shared = Object.getOwnPropertyDescriptors(sharedContext(host, systemPrompt));
  }

  forCall({ path, deadline, onWait }: HandlerCall): ExtensionContext {
    const { dialogs, session, warn } = this.#host;
    let ui: ExtensionUi | undefined;
    // Created on first use: most handlers never read it, and some run for every delta.
    const createUiNow = () =>
      createUi({
        dialogs,
        signal: () => session().run?.signal,
        deadline,
        onDialog: onWait,
        onPrompt: this.#onPrompt,
        onTerminalCall: (call) => warn(`${path}: ${call} needs a terminal and returned undefined`),
      });
    // Extensions spread the object: every member is its own.
    const context = {
      get ui() {
        ui ??= createUiNow();
        return ui;
      },
    };
    return Object.defineProperties(context as ExtensionContext, this.#shared);
  }

  /** The `ctx` object of a tool; outside a session there are no other tools. */
  forTool(path: string, otherTools: OtherTools | undefined): ExtensionToolContext {
    const reportFailure = (error: unknown) => this.#host.reportFailure(path, 'execute_tool', error);
    return Object.defineProperties(this.forCall({ path }) as ExtensionToolContext, {
      tools: {
        enumerable: true,
        get: () =>
          (otherTools?.all() ?? []).map(({ name, description, parameters }) => ({ name, description, parameters })),
      },
      executeTool: { enumerable: true, value: executeTool(otherTools, reportFailure) },
    });
  }

  forCommand(call: HandlerCall): ExtensionCommandContext {
    return Object.assign(this.forCall(call), this.#sessionActions(call));
  }

  #forNewSession(call: HandlerCall): ReplacedSessionContext {
    const { sendMessage, prompt } = this.#host;
    const senders: Omit<ReplacedSessionContext, keyof ExtensionCommandContext> = {
      sendMessage: async (message, options = {}) => sendMessage(parseCustomMessage(message), options),
      sendUserMessage: (content, options = {}) =>
        prompt(typeof content === 'string' ? content : toBlocks('content', content), options),
    };
    return Object.assign(this.forCommand(call), senders);
  }

  #sessionActions(call: HandlerCall): Omit<ExtensionCommandContext, keyof ExtensionContext> {
    const host = this.#host;
    const finish = async (
      change: Promise<{ cancelled: boolean }>,
      withSession: ((ctx: ReplacedSessionContext) => Promise<void>) | undefined,
    ) => {
      call.onWait?.();
      const { cancelled } = await change;
      if (!cancelled) await withSession?.(this.#forNewSession(call));
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
          if (!changed.cancelled) await setup?.(new SessionWriter(() => agentEntries(host.session)));
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

function executeTool(
  otherTools: OtherTools | undefined,
  reportFailure: (error: unknown) => void,
): ExtensionToolContext['executeTool'] {
  return async (name, args, { signal, onUpdate } = {}) => {
    if (!otherTools) throw new Error('executeTool works only while the session runs the tool');
    const { result, ...outcome } = await otherTools.execute(name, args, {
      ...(signal ? { signal } : {}),
      ...(onUpdate ? { update: updateListener(onUpdate, reportFailure) } : {}),
    });
    return structuredClone({ ...outcome, result: { ...result } });
  };
}

/** Never throws: the running tool calls it, some from a timer. After its first error the listener gets no updates. */
function updateListener(
  onUpdate: (result: ExtensionToolResult) => unknown,
  reportFailure: (error: unknown) => void,
): ToolInvocation['update'] {
  let hasFailed = false;
  const onError = (error: unknown) => {
    if (!hasFailed) reportFailure(error);
    hasFailed = true;
  };
  return ({ added: _, ...output }) => {
    if (!hasFailed) void (async () => void (await onUpdate(structuredClone(output))))().catch(onError);
  };
}

function sharedContext(host: ExtensionHost, systemPrompt: () => string): Omit<ExtensionContext, 'ui'> {
  const { session } = host;
  const entries = agentEntries(session);
  return {
    mode: host.mode,
    sessionManager: new SessionView(() => entries),
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
    getContextUsage: () => session().contextUsage,
    compact: ({ customInstructions, onComplete, onError } = {}) => {
      host
        .compact(customInstructions)
        .then(onComplete, (error: Error) => onError?.(error))
        .catch((error: unknown) => host.reportFailure('<runtime>', 'compact', error));
    },
    getSystemPrompt: systemPrompt,
  };
}
