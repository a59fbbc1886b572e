import type { Conversation } from '../../agent/loop.ts';
import type { Permit } from '../../agent/permission.ts';
import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import { callModel, withContent } from '../../model/call-model.ts';
import { failingProvider, ModelFailure, type Provider } from '../../model/request.ts';
import { estimateRequest } from '../../model/token-estimate.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import type { CompactorParts } from '../compaction/compactor.ts';
import { measuredTokens } from '../context/context-usage.ts';
import { modelRequest } from '../context/model-request.ts';
import { type PromptParts, RunSystemPrompt, systemPrompt } from '../context/system-prompt.ts';
import type { PendingInput } from '../input/pending-input.ts';
import { requireModel } from '../model-choice.ts';
import type { DeliveryModes } from '../session-modes.ts';
import type { SentRequest } from './recovery.ts';
import { type RoutedCall, routedChoice } from './routing.ts';
import type { Run } from './run.ts';

interface ConversationParts extends CompactorParts {
  readonly tools: () => readonly Tool[];
  readonly callableTools?: (() => readonly Tool[]) | undefined;
  /** Decides whether the calls of a run may run. */
  readonly permit?: ((run: Run) => Permit | undefined) | undefined;
  readonly pendingInput: PendingInput;
  readonly modes: DeliveryModes;
}

/** The session as the loop of this run uses it. Model, tools and queue are read anew for every turn. */
export function conversationOf(run: Run, parts: ConversationParts): Conversation {
  const { transcript, hooks, pendingInput } = parts;
  const { signal } = run;
  const prompt = new RunSystemPrompt(hooks, signal);
  // Files are read once per run: a prompt that changes within a run costs the provider's cache.
  let promptParts: PromptParts | undefined;
  const base = () => {
    const facts = parts.promptFacts(promptParts);
    promptParts = facts.parts;
    return systemPrompt(facts);
  };
  /** A route that fails is a failed model call. */
  const route = async (call: RoutedCall) => {
    try {
      return { choice: await routedChoice(parts, call) };
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      return { choice: parts.choice(), failure: error };
    }
  };
  let turns = 0;
  let offered = parts.tools();
  return {
    hookMessages:
      hooks.beforeAgentStart &&
      (async () => {
        const messages = await prompt.runStartHook(base(), run.opening);
        return messages.map((message) => transcript.add(message));
      }),
    callModel: async () => {
      // A model and hooks that respond at once must not starve the event loop.
      if (turns++ > 0) await new Promise((resolve) => setImmediate(resolve));
      const systemPrompt = await prompt.resolve(base());
      const onFailure = (failure: ModelFailure) => run.recovery.onModelFailure(failure);
      const { choice, failure } = await route({ systemPrompt, isRetry: run.recovery.isRepeating, signal });
      offered = requireModel(choice).supportsTools === false ? [] : parts.tools();
      const request = await modelRequest({ ...parts, choice: () => choice }, { systemPrompt, tools: offered, signal });
      if (failure) return callModel(failingProvider(failure), request, onFailure);
      const { model } = request;
      const estimated = estimateRequest(request);
      const tokens = fullContextTokens({ estimated, model }, parts);
      run.recovery.onRequest(tokens === undefined ? { estimated, model } : undefined);
      if (tokens !== undefined) return callModel(failingProvider(fullContext(tokens, model)), request, onFailure);
      parts.activity.begin('provider');
      const provider = await unlessAborted(parts.registry.provider(request.model, signal), signal);
      return callModel(provider ? withContent(provider) : emptyProvider, request, onFailure);
    },
    // The tools that this model call was offered, though they may have changed since.
    tools: () => offered,
    callableTools: parts.callableTools,
    permit: parts.permit && (() => parts.permit?.(run)),
    reserveModelCall: () => run.claimCall(),
    storeHookMessage: (message) => transcript.add(message),
    rewordUserMessage: (message, { content }) => transcript.rewordUserMessage(message, content),
    dropAssistantMessage: () => transcript.dropAssistantMessage(),
    beforeTools: transcript.hostCopy && (() => transcript.secure(signal)),
    hasSteering: () => pendingInput.has('steer'),
    takeSteering: () => pendingInput.claim('steer', run)(),
    beforeNextTurn: (owed) => (owed || !pendingInput.isEmpty ? run.recovery.compactIfDue() : undefined),
    nextDelivery: (owed) => {
      const hasMoreWork = owed || !pendingInput.isEmpty;
      if (!hasMoreWork || !run.claimCall()) return undefined;
      if (pendingInput.has('steer')) return pendingInput.claim('steer', run);
      return owed ? () => [] : pendingInput.claim('followUp', run);
    },
    steeringSkipsTools: () => parts.modes.interrupt === 'immediate',
    hooks,
    signal,
  };
}

// Stands for a provider after an abort.
const emptyProvider: Provider = async function* () {};

/** The tokens of a request that surely exceeds the window: by the estimate, and by the reported usage if there is any. */
function fullContextTokens(
  { estimated, model }: SentRequest,
  { scale, transcript }: Pick<ConversationParts, 'scale' | 'transcript'>,
): number | undefined {
  if (model.contextWindow <= 0) return undefined;
  const tokens = scale.reportedTokens(estimated, model);
  const measured = measuredTokens(transcript.messages, scale.slope(model)) ?? Infinity;
  return Math.min(tokens, measured) > model.contextWindow ? tokens : undefined;
}

const fullContext = (tokens: number, { id, contextWindow }: Model): ModelFailure =>
  new ModelFailure(
    'context_full',
    `The context is full: the next request needs about ${tokens} tokens, ${id} has ${contextWindow}. ` +
      'Compact, go back to an earlier message, or choose a model with a larger context.',
  );
