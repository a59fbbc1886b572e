import type { AgentClient } from '../../client/agent-client.ts';
import { CommandFailed } from '../../client/errors.ts';
import type { AgentSettledEvent, AssistantMessage, ImageContent } from '../../protocol/generated/vocabulary.ts';

/** A prompt of print mode. */
export interface Prompt {
  readonly message: string;
  readonly images: ImageContent[];
}

/** The text of the last assistant message, and the error of the run. */
export interface PromptOutcome {
  readonly text: string;
  readonly failure: string | undefined;
}

/** Sends a prompt and waits for the end of its run. */
export async function runPrompt(client: AgentClient, prompt: Prompt): Promise<PromptOutcome> {
  try {
    const { settled, messages } = await client.promptAndWait(prompt);
    const last = messages.findLast((message) => message.role === 'assistant');
    const failure = failureOf(settled) ?? truncationOf(last);
    return { text: settled?.outcome === 'ok' && last ? textOf(last) : '', failure };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { text: '', failure: error.message };
  }
}

function failureOf(settled: AgentSettledEvent | undefined): string | undefined {
  if (!settled || settled.outcome === 'ok') return undefined;
  if (settled.outcome === 'aborted') return 'The run was stopped';
  return settled.errorMessage ?? `The run failed: ${settled.errorCode ?? settled.outcome}`;
}

const truncationOf = (message: AssistantMessage | undefined) =>
  message?.stopReason === 'length' ? 'The answer was cut: it is as long as the model may answer' : undefined;

/** Each text block ends with a line end. */
const textOf = ({ content }: AssistantMessage) =>
  content.map((block) => (block.type === 'text' ? block.text.replace(/\n?$/, '\n') : '')).join('');
