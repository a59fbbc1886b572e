import { AgentClient } from '../client/client.ts';
import { type Stdout, takeStdout } from '../system/stdout/private-stdout.ts';
import { toLine } from '../wire/json-lines.ts';
import { memoryPair } from '../wire/memory.ts';
import type { Arguments } from './flags.ts';
import { leaveOnSignal, opened } from './lifetime.ts';
import { ask, type Prompt, type Reply } from './print/ask.ts';
import { headerOf } from './print/header.ts';
import { pour } from './print/pour.ts';
import { showCalls } from './print/progress.ts';
import { promptsOf } from './print/prompts.ts';

/** Runs the prompts one after another and leaves: with the last answer on stdout, or in JSON with all that happened. */
export async function print(args: Arguments): Promise<number> {
  const prompts = await promptsOf(args);
  const isJson = args.mode === 'json';
  const isWatched = process.stdout.isTTY && process.stderr.isTTY && !isJson;
  const stdout = takeStdout();
  const engine = await opened(args, isJson ? {} : { stream: 'delta' });
  if (!engine) return 1;
  const [inside, outside] = memoryPair();
  const client = new AgentClient(outside);
  outside.pause();
  const { eventQueue: outbox } = engine.connect(inside);
  const flush = isJson ? pour(client, outside, stdout) : () => stdout.flush();
  const signalled = new Promise<'signalled'>((resolve) => {
    leaveOnSignal(
      engine,
      () => outbox.flush().then(flush),
      () => {
        process.stderr.write('tau: stopped by a signal\n');
        resolve('signalled');
      },
    );
  });
  if (isJson) stdout.write(toLine(await headerOf(engine)));
  if (args.verbose || isWatched) showCalls(client, process.stderr);
  outside.resume();
  const unread = new Promise<'unread'>((resolve) => stdout.onError(() => resolve('unread')));
  const result = await Promise.race([signalled, unread, askAll(client, prompts)]);
  // The process ends when its signal has been dealt with.
  if (result === 'signalled') return new Promise(() => {});
  if (result !== 'unread') tell(result, isJson ? undefined : stdout);
  await Promise.race([engine.finished(), unread, signalled]);
  client.close();
  await engine.close();
  await stdout.flush();
  return result === 'unread' || result.failure === undefined ? 0 : 1;
}

/** Nobody is there to answer dialogs: they take their defaults. The answer to the last prompt, or to the first one that failed: those after it may have counted on it. */
async function askAll(client: AgentClient, prompts: readonly Prompt[]): Promise<Reply> {
  await client.hello({ ui: [] });
  let reply: Reply = { text: '', failure: undefined };
  for (const prompt of prompts) {
    reply = await ask(client, prompt);
    if (reply.failure !== undefined) break;
  }
  return reply;
}

function tell({ text, failure }: Reply, stdout: Stdout | undefined): void {
  stdout?.write(text);
  if (failure !== undefined) process.stderr.write(`tau: ${failure}\n`);
}
