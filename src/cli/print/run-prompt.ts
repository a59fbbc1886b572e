import type { AgentClient } from '../../client/agent-client.ts';
import { CommandFailed } from '../../client/errors.ts';
import type { PromptRun } from '../../client/prompt-run.ts';
import type {
  AgentEndEvent,
  AgentEvent,
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
    if (!(error instanceof CommandFailed || error instanceof PromptNotStarted)) throw error;
    return { text: '', failure: error.message };
  } finally {
    queued.stop();
  }
}

/** Whether the prompt waits for the extensions to start, so that its run has no id yet. */
const isQueued = ({ accepted, settled }: PromptRun) => accepted.disposition === 'queued' && !settled;

type EndedRun = Pick<PromptRun, 'settled' | 'messages'>;

/** Collects the end of a queued prompt: its failure to start, or the first run that fails, or else the last. */
class QueuedRun {
  readonly stop: () => void;
  readonly #client: AgentClient;
  #messages: AgentEndEvent['messages'] = [];
  #last: EndedRun = { settled: undefined, messages: [] };
  #startFailure: string | undefined;

  constructor(client: AgentClient) {
    this.#client = client;
    this.stop = client.onEvent((event) => this.#collect(event));
  }

  /** A prompt that an extension handles starts no run. */
  async end(): Promise<EndedRun> {
    await this.#client.waitIdle();
    if (this.#startFailure !== undefined) throw new PromptNotStarted(this.#startFailure);
    return this.#last;
  }

  #collect(event: AgentEvent): void {
    if (event.type === 'agent_end') this.#messages = [...this.#messages, ...event.messages];
    if (event.type === 'extension_error' && event.extensionPath === '<runtime>' && event.event === 'prompt')
      this.#startFailure ??= event.error;
    if (event.type !== 'agent_settled') return;
    if (failureOf(this.#last.settled) === undefined) this.#last = { settled: event, messages: this.#messages };
    this.#messages = [];
  }
}

/** A queued prompt failed when its turn came. */
class PromptNotStarted extends Error {
  override readonly name = 'PromptNotStarted';
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
