import type { AgentClient } from '../../client/agent-client.ts';
import { CommandFailed } from '../../client/errors.ts';
import type { PromptRun } from '../../client/prompt-run.ts';
import type {
  AgentEndEvent,
  AgentSettledEvent,
  AssistantMessage,
  ImageContent,
} from '../../protocol/generated/vocabulary.ts';

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
  const queued = new QueuedRun(client);
  try {
    const run = await client.promptAndWait(prompt);
    const { settled, messages } = isQueued(run) ? await queued.end() : run;
    const last = messages.findLast((message) => message.role === 'assistant');
    const failure = failureOf(settled) ?? truncationOf(last);
    return { text: settled?.outcome === 'ok' && last ? textOf(last) : '', failure };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { text: '', failure: error.message };
  } finally {
    queued.stop();
  }
}

/** Whether the prompt waits for the extensions to start, so that its run has no id yet. */
const isQueued = ({ accepted, settled }: PromptRun) => accepted.disposition === 'queued' && !settled;

type EndedRun = Pick<PromptRun, 'settled' | 'messages'>;

/** Collects runs. The one of a queued prompt is the first that fails, or that leaves no message waiting. */
class QueuedRun {
  readonly stop: () => void;
  readonly #client: AgentClient;
  #messages: AgentEndEvent['messages'] = [];
  #last: EndedRun | undefined;
  #count = 0;
  #wake = () => {};

  constructor(client: AgentClient) {
    this.#client = client;
    this.stop = client.onEvent((event) => {
      if (event.type === 'agent_end') this.#messages = [...this.#messages, ...event.messages];
      if (event.type !== 'agent_settled') return;
      this.#last = { settled: event, messages: this.#messages };
      this.#messages = [];
      this.#count++;
      this.#wake();
    });
  }

  async end(): Promise<EndedRun> {
    let seen = 0;
    while (true) {
      if (this.#count === seen) await this.#nextEnd();
      seen = this.#count;
      const { pendingMessageCount, isStreaming } = await this.#client.getState();
      const isLast = this.#count === seen && pendingMessageCount === 0 && !isStreaming;
      if (this.#last && (isLast || this.#last.settled?.outcome !== 'ok')) return this.#last;
    }
  }

  #nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
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
