import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { LoginEvent, LoginInteraction, LoginPrompt } from '../../model/sign-in/flow.ts';
import { terminalText } from '../../system/terminal-text.ts';

/** A terminal as the user of a login. `interrupted` aborts with Ctrl-C. */
export function terminalInteraction(interrupted: AbortController): LoginInteraction {
  const { signal } = interrupted;
  const prompt = async (request: LoginPrompt): Promise<string | undefined> => {
    if (request.type === 'select') return choose(request, interrupted);
    const hint = 'placeholder' in request && request.placeholder ? ` (${request.placeholder})` : '';
    return readLine(`${request.message}${hint}: `, { request, interrupted });
  };
  return { signal, prompt, notify: (event) => print(textOf(event)) };
}

/** Prints a line, without controls. */
export const print = (text: string): void => void process.stdout.write(`${terminalText(text)}\n`);

/** The address stands on a line of its own, so that it can be copied. */
function textOf(event: LoginEvent): string {
  switch (event.type) {
    case 'auth_url':
      return [event.instructions ?? 'Open this address:', '', event.url, ''].join('\n');
    case 'device_code':
      return ['Open this address and enter the code:', '', event.verificationUri, '', event.userCode, ''].join('\n');
    default:
      return event.message;
  }
}

async function choose(
  request: Extract<LoginPrompt, { type: 'select' }>,
  interrupted: AbortController,
): Promise<string | undefined> {
  const { options, message } = request;
  print([message, ...options.map(({ label }, index) => `  ${index + 1}. ${label}`)].join('\n'));
  for (;;) {
    const text = await readLine(`1-${options.length}: `, { request, interrupted });
    if (text === undefined) return undefined;
    const chosen = options.find(({ id }, index) => text.trim() === id || text.trim() === String(index + 1));
    if (chosen) return chosen.id;
  }
}

interface LineOptions {
  readonly request: LoginPrompt;
  readonly interrupted: AbortController;
}

/** A typed line; undefined after Ctrl-D, Ctrl-C or the withdrawal of the prompt. A secret is not shown. */
function readLine(question: string, { request, interrupted }: LineOptions): Promise<string | undefined> {
  const { signal = interrupted.signal } = request;
  const isSecret = request.type === 'secret';
  const hidden = new Writable({ write: (_bytes, _encoding, done) => done() });
  return new Promise((resolve) => {
    const reader = createInterface({
      input: process.stdin,
      output: isSecret ? hidden : process.stdout,
      terminal: true,
      historySize: 0,
    });
    // Not before: the terminal shows what is typed until the reader is there.
    if (isSecret) process.stdout.write(terminalText(question));
    const close = () => reader.close();
    let line: string | undefined;
    reader.once('close', () => {
      signal.removeEventListener('abort', close);
      if (isSecret || line === undefined) process.stdout.write('\n');
      resolve(line);
    });
    reader.once('SIGINT', () => {
      interrupted.abort();
      close();
    });
    if (signal.aborted) close();
    else {
      signal.addEventListener('abort', close, { once: true });
      reader.question(isSecret ? '' : terminalText(question), (text) => {
        line = text;
        close();
      });
    }
  });
}
