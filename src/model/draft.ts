import type {
  AssistantBlock,
  AssistantMessage,
  AssistantMessageEvent,
  Model,
  StopReason,
  ToolCall,
  Usage,
} from '../protocol/generated/vocabulary.ts';

/** A step of a streaming assistant message, without the message after it. */
export type DraftStep = Exclude<AssistantMessageEvent, { type: 'start' | 'done' | 'error' }>;

export const noUsage = (): Usage => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
});

const namesOf = ({ api, provider, id }: Model) => ({ api, provider, model: id });

export const emptyAssistantMessage = (model: Model): AssistantMessage => ({
  role: 'assistant',
  content: [],
  ...namesOf(model),
  usage: noUsage(),
  stopReason: 'stop',
  timestamp: Date.now(),
});

type OpenBlock =
  | { kind: 'text' | 'thinking'; pieces: string[]; signature?: string }
  | { kind: 'toolCall'; pieces: string[]; id: string; name: string; signature?: string };

/**
 * Assembles an assistant message. Providers add what they receive; each call returns the resulting steps and opens and
 * closes blocks. Pieces are joined once, when a block closes, so that a long message takes linear time.
 */
export class Draft {
  readonly #message: AssistantMessage;
  readonly #blocks: AssistantBlock[] = [];
  #open: OpenBlock | undefined;
  #stopReason: StopReason = 'stop';

  constructor(message: AssistantMessage) {
    this.#message = message;
  }

  text(delta: string): DraftStep[] {
    return this.#addDelta('text', delta);
  }

  thinking(delta: string): DraftStep[] {
    return this.#addDelta('thinking', delta);
  }

  /** Sets the provider's signature of the open block. */
  sign(signature: string): void {
    if (this.#open) this.#open.signature = signature;
  }

  /** Adds hidden thinking, of which the provider sends only a signature. */
  redactedThinking(signature: string): DraftStep[] {
    const steps = this.close();
    const contentIndex = this.#index;
    this.#blocks.push({ type: 'thinking', thinking: '', thinkingSignature: signature, redacted: true });
    steps.push({ type: 'thinking_start', contentIndex }, { type: 'thinking_end', contentIndex, content: '' });
    return steps;
  }

  /** Starts a tool call; its arguments follow as pieces of JSON. */
  toolCall(call: { id: string; name: string }): DraftStep[] {
    const steps = this.close();
    this.#open = { kind: 'toolCall', pieces: [], ...call };
    steps.push({ type: 'toolcall_start', contentIndex: this.#index, id: call.id, toolName: call.name });
    return steps;
  }

  toolArguments(delta: string): DraftStep[] {
    if (this.#open?.kind !== 'toolCall') return [];
    this.#open.pieces.push(delta);
    return [{ type: 'toolcall_delta', contentIndex: this.#index, delta }];
  }

  /** Ends the open block, if any. `parsedArguments` replace the pieces of a tool call. */
  close(parsedArguments?: Record<string, unknown>): DraftStep[] {
    const open = this.#open;
    if (!open) return [];
    const contentIndex = this.#index;
    this.#open = undefined;
    const content = open.pieces.join('');
    const { signature } = open;
    if (open.kind === 'toolCall') {
      const { id, name } = open;
      const call: ToolCall = { type: 'toolCall', id, name, arguments: parsedArguments ?? parseArguments(content) };
      const toolCall = signature === undefined ? call : { ...call, thoughtSignature: signature };
      this.#blocks.push(toolCall);
      return [{ type: 'toolcall_end', contentIndex, toolCall }];
    }
    if (open.kind === 'text') {
      this.#blocks.push({
        type: 'text',
        text: content,
        ...(signature === undefined ? {} : { textSignature: signature }),
      });
    } else {
      this.#blocks.push({
        type: 'thinking',
        thinking: content,
        ...(signature === undefined ? {} : { thinkingSignature: signature }),
      });
    }
    return [{ type: `${open.kind}_end`, contentIndex, content }];
  }

  /** Whether no block has text, and none is a tool call or hidden thinking. */
  get isEmpty(): boolean {
    return !this.#blocks.some(hasContent) && (this.#open === undefined || !hasPieces(this.#open));
  }

  /** All text of this kind so far. */
  streamed(kind: 'text' | 'thinking'): string {
    const closed = this.#blocks.flatMap((block) => {
      if (block.type !== kind) return [];
      return block.type === 'text' ? block.text : block.type === 'thinking' ? block.thinking : [];
    });
    return [...closed, ...(this.#open?.kind === kind ? this.#open.pieces : [])].join('');
  }

  get hasToolCall(): boolean {
    return this.#open?.kind === 'toolCall' || this.#blocks.some((block) => block.type === 'toolCall');
  }

  set usage(usage: Usage) {
    this.#message.usage = usage;
  }

  /** Records the names that the provider gave to its response. */
  setMetadata(metadata: Pick<AssistantMessage, 'responseId' | 'responseModel' | 'rawStopReason'>): void {
    Object.assign(this.#message, metadata);
  }

  /** Names another model than the one that was requested. */
  setModel(model: Model): void {
    Object.assign(this.#message, namesOf(model));
  }

  set stopReason(reason: StopReason) {
    this.#stopReason = reason;
  }

  /** The message so far, with every block closed. */
  finish(ending: { stopReason?: StopReason; errorMessage?: string; errorCode?: AssistantMessage['errorCode'] } = {}) {
    this.close();
    const hasToolCall = this.#blocks.some((block) => block.type === 'toolCall');
    const stopReason = ending.stopReason ?? (hasToolCall && this.#stopReason === 'stop' ? 'toolUse' : this.#stopReason);
    // A copy: an abandoned provider may still write to this draft.
    return { ...this.#message, ...ending, content: [...this.#blocks], stopReason } satisfies AssistantMessage;
  }

  get #index(): number {
    return this.#blocks.length;
  }

  #addDelta(kind: 'text' | 'thinking', delta: string): DraftStep[] {
    if (this.#open?.kind === kind) {
      this.#open.pieces.push(delta);
      return [{ type: `${kind}_delta`, contentIndex: this.#index, delta }];
    }
    const steps = this.close();
    this.#open = { kind, pieces: [delta] };
    const contentIndex = this.#index;
    steps.push({ type: `${kind}_start`, contentIndex }, { type: `${kind}_delta`, contentIndex, delta });
    return steps;
  }
}

const hasPieces = ({ kind, pieces }: OpenBlock) => kind === 'toolCall' || pieces.some((piece) => piece.trim() !== '');

function hasContent(block: AssistantBlock): boolean {
  if (block.type === 'text') return block.text.trim() !== '';
  return block.type === 'toolCall' || block.thinking !== '' || block.redacted === true;
}

/** Arguments that do not parse, as in a truncated response, count as none: the tool reports what is missing. */
export function parseArguments(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
