import type { Conversation } from '../../agent/loop.ts';
import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import { callModel, withContent } from '../../model/call-model.ts';
import { ModelFailure, type ModelRequest, type Provider } from '../../model/request.ts';
import { estimateRequest } from '../../model/token-estimate.ts';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import type { CompactorParts } from '../compaction/compactor.ts';
import { measuredTokens } from '../context/context-usage.ts';
import { modelRequest } from '../context/model-request.ts';
import { type PromptParts, RunSystemPrompt, systemPrompt } from '../context/system-prompt.ts';
import type { PendingInput } from '../input/pending-input.ts';
import { requireModel } from '../model-choice.ts';
import type { DeliveryModes } from '../session-modes.ts';
import type { Run } from './run.ts';

interface ConversationParts extends CompactorParts {
  readonly tools: () => readonly Tool[];
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
      offered = requireModel(parts.choice()).supportsTools === false ? [] : parts.tools();
      const request = await modelRequest(parts, { systemPrompt: await prompt.resolve(base()), tools: offered, signal });
      const onFailure = (failure: ModelFailure) => run.recovery.onModelFailure(failure);
      if (exceedsWindow(request, transcript.messages)) return callModel(fullContextProvider, request, onFailure);
      parts.activity.begin('provider');
      const provider = await unlessAborted(parts.registry.provider(request.model, signal), signal);
      return callModel(provider ? withContent(provider) : emptyProvider, request, onFailure);
    },
    // The tools that this model call was offered, though they may have changed since.
    tools: () => offered,
    reserveModelCall: () => run.claimCall(),
    storeHookMessage: (message) => transcript.add(message),
    dropAssistantMessage: () => transcript.dropAssistantMessage(),
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

/** Whether the request surely exceeds the window: by the estimate, and by the reported usage if there is any. */
function exceedsWindow(request: ModelRequest, messages: readonly AgentMessage[]): boolean {
  const { model } = request;
  if (model.contextWindow <= 0 || estimateRequest(request) <= model.contextWindow) return false;
  return (measuredTokens(messages) ?? Infinity) > model.contextWindow;
}

// Stands for a provider that would reject the request.
// biome-ignore lint/correctness/useYield: it fails before its first event.
const fullContextProvider: Provider = async function* (request) {
  const { model } = request;
  const tokens = estimateRequest(request);
  throw new ModelFailure(
    'context_full',
    `The context is full: the next request needs about ${tokens} tokens, ${model.id} has ${model.contextWindow}. ` +
      'Compact, go back to an earlier message, or choose a model with a larger context.',
  );
};
