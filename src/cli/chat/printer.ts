import type {
  AgentEvent,
  AssistantMessageEvent,
  ToolExecutionStartEvent,
  ToolProgress,
} from '../../protocol/generated/vocabulary.ts';
import { terminalText, visibleText } from '../../system/terminal-text.ts';
import { firstCells } from './wrap.ts';

const SHOWN_LINES = 12;

const BORDER = '  │ ';

// A narrower terminal wraps by itself: a character may need two cells.
const MIN_BORDERED_CELLS = 8;

/** Text styles; plain without a terminal. */
export interface Ink {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
}

export type InkName = keyof Ink;

const paint = (code: number) => (text: string) => `\u001B[${code}m${text}\u001B[0m`;
const plain = (text: string) => text;

export const terminalInk: Ink = { dim: paint(2), bold: paint(1), red: paint(31), green: paint(32) };
export const plainInk: Ink = { dim: plain, bold: plain, red: plain, green: plain };

export interface PrintTarget {
  readonly atLineStart: boolean;
  /** The cells of a row; absent: unlimited. */
  readonly width?: number;
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

  /** Prints a line that stands out. */
  heading(text: string): void {
    this.#line(this.#ink.bold(terminalText(text)));
  }

  /** Prints text whole, each row behind a bar: nothing in it is hidden, or looks like a line of tau. */
  bordered(text: string, inkOf: (line: string) => InkName): void {
    const width = Math.max(MIN_BORDERED_CELLS, (this.#target.width ?? Infinity) - BORDER.length);
    const rows = visibleText(text.replaceAll(/\r?\n/g, '\n').replaceAll('\t', TAB))
      .split('\n')
      .flatMap((line) => rowsOf(line, width).map((row) => this.#ink.dim(BORDER) + this.#ink[inkOf(line)](row)));
    this.#line(rows.join('\n'));
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

const TAB = '    ';

// Cut at the width, not at words: no space is lost, and each row but the last is full.
function rowsOf(line: string, width: number): readonly string[] {
  const rows: string[] = [];
  let rest = line;
  for (let row = firstCells(rest, width); row !== rest; row = firstCells(rest, width)) {
    rows.push(row);
    rest = rest.slice(row.length);
  }
  return [...rows, rest];
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
