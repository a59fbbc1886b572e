import type { CommandOutput } from '../agent/tools/bash/command-output.ts';
import { submit } from '../engine/commands/prompting.ts';
import type { Handler } from '../engine/dispatch.ts';
import { type BashOperations, runBashBackend } from '../extend/extensions/api/bash-backend.ts';
import { Refusal } from '../protocol/errors.ts';
import type {
  Accepted,
  ContentBlock,
  ImageContent,
  BashResult as StoredResult,
} from '../protocol/generated/vocabulary.ts';
import type { RawInput } from '../session/hooks.ts';
import type { InjectedMessage, InjectionOptions } from '../session/input/injected-messages.ts';
import type { Run } from '../session/run/run.ts';
import { bashResult } from '../session/shell-commands.ts';
import type { EmbedContext } from './context.ts';
import { logFirstError } from './session-events.ts';

/** Options of `AgentSession.prompt`. */
export interface PromptOptions {
  readonly images?: ImageContent[] | undefined;
  /** The queue for the message during a run; without it the message is rejected then. */
  readonly streamingBehavior?: 'steer' | 'followUp' | undefined;
  /** False: slash commands, skills and templates are plain text. */
  readonly expandPromptTemplates?: boolean | undefined;
  readonly source?: RawInput['source'] | undefined;
  /** Called once the disposition of the message is known. */
  readonly preflightResult?: ((disposition: Accepted['disposition']) => void) | undefined;
}

/**
 * Sends a prompt; resolves when the run that it starts has ended, also if it was queued while the extensions start. A
 * prompt that joins a run resolves at once.
 */
export async function prompt(context: EmbedContext, message: string, options: PromptOptions = {}): Promise<void> {
  const { images, streamingBehavior, expandPromptTemplates: expand, source = 'interactive' } = options;
  const input = { source, expand };
  const params = { message, images, streamingBehavior };
  let run: Run | undefined;
  let isHeld = true;
  const handle: Handler<'prompt'> = async (command, commandContext) => {
    isHeld = false;
    const accepted = await submit(command, input, commandContext);
    run = commandContext.agent.session.run;
    return accepted;
  };
  const { disposition } = await context.perform('prompt', params as { message: string }, { handler: handle, input });
  options.preflightResult?.(disposition);
  // It was queued while the extensions start, and has its turn before this.
  if (isHeld) run = await context.runInLane(() => context.agent.session.run);
  if (isHeld || disposition === 'started') await context.runSettled(run);
}

export interface SendUserMessageOptions {
  readonly deliverAs?: 'steer' | 'followUp' | undefined;
  readonly expandPromptTemplates?: boolean | undefined;
}

/** Sends a user message of blocks, as plain text unless expansion is on. */
export function sendUserMessage(
  context: EmbedContext,
  content: string | ContentBlock[],
  { deliverAs, expandPromptTemplates = false }: SendUserMessageOptions = {},
): Promise<void> {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const images = blocks.filter((block): block is ImageContent => block.type === 'image');
  return prompt(context, text, { images, streamingBehavior: deliverAs, expandPromptTemplates, source: 'extension' });
}

/** Sends a message of the program itself. */
export async function sendCustomMessage(
  context: EmbedContext,
  message: InjectedMessage,
  options: InjectionOptions = {},
): Promise<void> {
  checkCustomMessage(message);
  const { agent } = context;
  context.begin();
  const deliver = () => {
    const { accepted, begin } = agent.session.inject(message, options);
    const run = accepted.disposition === 'started' ? agent.session.run : undefined;
    begin?.();
    return run;
  };
  const run = options.triggerTurn && !agent.session.run ? await agent.lane.run(deliver) : deliver();
  if (run) await context.runSettled(run);
}

function checkCustomMessage({ customType, content }: InjectedMessage): void {
  if (typeof customType === 'string' && (typeof content === 'string' || Array.isArray(content))) return;
  throw new Refusal('invalid_params', 'A custom message needs a customType, and content that is text or blocks');
}

/** The result of a shell command beside the conversation. */
export interface BashResult {
  output: string;
  /** Undefined if the command was stopped. */
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string | undefined;
}

export interface BashOptions {
  /** Keeps the command out of the model context. */
  readonly excludeFromContext?: boolean | undefined;
  /** Copied into `bash_execution_update`. */
  readonly id?: string | undefined;
  /** Runs the command instead of a shell of tau. */
  readonly operations?: BashOperations | undefined;
}

/** Runs a shell command to its end. */
export async function executeBash(
  { agent }: EmbedContext,
  command: string,
  onChunk: ((chunk: string) => void) | undefined,
  { excludeFromContext = false, id, operations }: BashOptions,
): Promise<BashResult> {
  if (typeof command !== 'string') throw new Refusal('invalid_params', 'Invalid parameters: command must be a string');
  const reportChunk = logFirstError(onChunk ?? (() => {}));
  const onText = (delta: string) => {
    if (delta === '') return;
    reportChunk(delta);
    agent.broadcast.publish({ type: 'bash_execution_update', ...(id === undefined ? {} : { id }), delta });
  };
  const { exitCode, fullOutputPath, ...result } = await agent.session.shell.run({
    command,
    excludeFromContext,
    canReceive: () => true,
    onText,
    execute: operations && ((cwd, signal) => runWith(operations, { command, cwd, signal, onText })),
  });
  return { ...result, exitCode: exitCode ?? undefined, fullOutputPath: fullOutputPath ?? undefined };
}

interface CommandOfProgram {
  readonly command: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
}

async function runWith(operations: BashOperations, { onText, ...command }: CommandOfProgram): Promise<StoredResult> {
  const onOutput = (output: CommandOutput) => onText(output.takeNew().text);
  const run = await runBashBackend(operations, { ...command, seconds: 0, onOutput });
  if (run.exit.error && run.end === 'exited') throw run.exit.error;
  return bashResult(run);
}

/** Adds the result of a command that the program ran itself. */
export function recordBashResult(
  { agent }: EmbedContext,
  command: string,
  { output, exitCode, cancelled, truncated, fullOutputPath }: BashResult,
  { excludeFromContext = false }: BashOptions,
): void {
  const result: StoredResult = {
    output,
    exitCode: exitCode ?? null,
    cancelled,
    truncated,
    fullOutputPath: fullOutputPath ?? null,
  };
  agent.session.shell.record({ command, excludeFromContext }, result);
}
