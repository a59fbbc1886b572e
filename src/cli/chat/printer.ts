import type {
  AgentEvent,
  AssistantMessageEvent,
  ToolExecutionStartEvent,
  ToolProgress,
} from '../../protocol/generated/vocabulary.ts';
import { terminalText } from '../../system/terminal-text.ts';

const SHOWN_LINES = 12;

/** Text styles; plain without a terminal. */
export interface Ink {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
}

const paint = (code: number) => (text: string) => `\u001B[${code}m${text}\u001B[0m`;
const plain = (text: string) => text;

export const terminalInk: Ink = { dim: paint(2), bold: paint(1), red: paint(31) };
export const plainInk: Ink = { dim: plain, bold: plain, red: plain };

export interface PrintTarget {
  readonly atLineStart: boolean;
  print(text: string): void;
}

/** Prints a conversation as it happens. */
export class Printer {
  readonly #target: PrintTarget;
  readonly #ink: Ink;

  constructor(target: PrintTarget, ink: Ink) {
    this.#target = target;
    this.#ink = ink;
  }

  event(event: AgentEvent): void {
    switch (event.type) {
      case 'message_update':
        this.step(event.assistantMessageEvent);
        break;
      case 'tool_execution_start':
        this.#line(callLine(event, this.#ink));
        break;
      case 'tool_execution_end':
        this.#output(event.result, event.isError);
        break;
      case 'ttsr_triggered':
        this.note(`(rule: ${event.rules.map(({ name }) => String(name)).join(', ')})`);
        break;
      case 'agent_settled':
        if (event.outcome === 'aborted') this.note('(stopped)');
        if (event.outcome === 'error') this.failure(`(failed: ${event.errorMessage ?? event.errorCode})`);
        this.#startLine();
        break;
      default:
    }
  }

  step(step: AssistantMessageEvent): void {
    if (step.type === 'text_delta') this.#put(terminalText(step.delta));
    else if (step.type === 'thinking_delta') this.#put(this.#ink.dim(terminalText(step.delta)));
    else if (step.type === 'text_end' || step.type === 'thinking_end') this.#startLine();
  }

  /** Prints lines that are not part of a message. */
  note(text: string): void {
    this.#line(this.#ink.dim(terminalText(text)));
  }

  /** Prints an error. */
  failure(reason: unknown): void {
    this.#line(this.#ink.red(terminalText(reason instanceof Error ? reason.message : String(reason))));
  }

  #output({ content }: ToolProgress, isError: boolean): void {
    const text = content.map((block) => (block.type === 'text' ? block.text : `[${block.mimeType}]`)).join('\n');
    const lines = terminalText(text).trimEnd().split('\n');
    const ink = isError ? this.#ink.red : this.#ink.dim;
    for (const line of lines.slice(0, SHOWN_LINES)) this.#line(ink(`  ${line}`));
    if (lines.length > SHOWN_LINES) this.note(`  … ${lines.length - SHOWN_LINES} more lines`);
  }

  #line(text: string): void {
    this.#startLine();
    this.#put(`${text}\n`);
  }

  #startLine(): void {
    if (!this.#target.atLineStart) this.#put('\n');
  }

  #put(text: string): void {
    if (text !== '') this.#target.print(text);
  }
}

/** A tool call as one line. */
export const callLine = ({ toolName, args }: Pick<ToolExecutionStartEvent, 'toolName' | 'args'>, ink: Ink): string =>
  `${ink.bold(`▸ ${terminalText(toolName)}`)} ${terminalText(headline(args))}`;

/** The most telling argument of a call, on one line. */
function headline(args: Readonly<Record<string, unknown>>): string {
  const [first] = Object.values(args);
  const text = typeof first === 'string' ? first : JSON.stringify(args);
  return text.split('\n')[0]?.slice(0, 200) ?? '';
}
