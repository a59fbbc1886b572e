import { AgentClient } from '../../client/agent-client.ts';
import { type Stdout, takeStdout } from '../../system/stdout/private-stdout.ts';
import { terminalJson, terminalText, warn } from '../../system/terminal-text.ts';
import { toLine } from '../../wire/json-lines.ts';
import { memoryPair } from '../../wire/memory.ts';
import type { CliArguments } from '../flags/flags.ts';
import { closeOnSignal, openAgentEngine } from '../lifetime.ts';
import { promptsOf } from './input.ts';
import { headerOf, printEvents, printToolCalls } from './print-events.ts';
import { type Prompt, type PromptOutcome, runPrompt } from './run-prompt.ts';

/** Runs prompts one after another: prints the last assistant message, or every event in JSON mode. */
export async function print(args: CliArguments): Promise<number> {
  const prompts = await promptsOf(args);
  const isJson = args.mode === 'json';
  const isTerminal = process.stdout.isTTY;
  const isWatched = isTerminal && process.stderr.isTTY && !isJson;
  const stdout = isTerminal ? withoutControls(takeStdout(), isJson ? terminalJson : terminalText) : takeStdout();
  const engine = await openAgentEngine(args, isJson ? {} : { stream: 'delta' });
  if (!engine) return 1;
  const [inside, outside] = memoryPair();
  const client = new AgentClient(outside);
  outside.pause();
  const { eventQueue } = engine.connect(inside);
  const flush = isJson ? printEvents(client, outside, stdout) : () => stdout.flush();
  const signalled = new Promise<'signalled'>((resolve) => {
    closeOnSignal(
      engine,
      () => eventQueue.flush().then(flush),
      () => {
        warn('stopped by a signal');
        resolve('signalled');
      },
    );
  });
  if (isJson) stdout.write(toLine(await headerOf(engine)));
  if (args.verbose || isWatched) printToolCalls(client, process.stderr);
  outside.resume();
  const closed = new Promise<'unread'>((resolve) => stdout.onError(() => resolve('unread')));
  const denied = countDenied(client);
  const result = await Promise.race([signalled, closed, runPrompts(client, prompts)]);
  // The signal handler ends the process.
  if (result === 'signalled') return new Promise(() => {});
  if (result !== 'unread') printOutcome(result, isJson ? undefined : stdout);
  if (denied.count > 0) warn(deniedText(denied.count));
  await Promise.race([engine.finished(), closed, signalled]);
  client.close();
  await engine.close();
  await stdout.flush();
  return result === 'unread' || result.failure === undefined ? 0 : 1;
}

/** Stdout on a terminal: all text passes through `clean`. */
const withoutControls = (stdout: Stdout, clean: (text: string) => string): Stdout => ({
  ...stdout,
  write: (text) => stdout.write(clean(text)),
});

/** Dialogs resolve with their defaults. Stops at the first failure, because later prompts may depend on it. */
async function runPrompts(client: AgentClient, prompts: readonly Prompt[]): Promise<PromptOutcome> {
  await client.hello({ ui: [] });
  let outcome: PromptOutcome = { text: '', failure: undefined };
  for (const prompt of prompts) {
    outcome = await runPrompt(client, prompt);
    if (outcome.failure !== undefined) break;
  }
  return outcome;
}

/** Counts the calls that were denied because no user can allow them here. */
function countDenied(client: AgentClient): { readonly count: number } {
  const denied = { count: 0 };
  client.onEvent((event) => {
    if (event.type !== 'tool_execution_end') return;
    const details = event.result.details as { denied?: unknown; by?: unknown } | undefined;
    if (details?.denied === true && details.by === 'nobody') denied.count++;
  });
  return denied;
}

const deniedText = (count: number) =>
  `${count === 1 ? 'One tool call was' : `${count} tool calls were`} denied: nothing can be approved here. Allow them by rules in settings.json (docs/approvals.md), or take a looser --approvals`;

function printOutcome({ text, failure }: PromptOutcome, stdout: Stdout | undefined): void {
  stdout?.write(text);
  if (failure !== undefined) warn(failure);
}
