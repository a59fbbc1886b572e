import type { Page } from 'playwright-core';
import { type Command, command } from './command.ts';
import { type Home, newHome, scriptArgs, TAU } from './open.ts';
import { box } from './page-hands.ts';

interface PageServerOptions {
  readonly home?: Home;
  /** Answers of the scripted model, for each agent from the first; without it the model converses. */
  readonly script?: readonly object[];
  /** More arguments after `serve`. */
  readonly args?: readonly string[];
}

/** `tau serve` at work, as it is published. */
export interface PageServer {
  readonly home: Home;
  readonly loginLink: string;
  /** Where the page is. */
  readonly address: string;
  readonly process: Command;
  /** Ends it without a warning. */
  readonly kill: () => Promise<void>;
  /** Another one in its place, after it has ended. */
  readonly again: () => Promise<PageServer>;
}

/** Serves the page on any port. It and its agents are gone after the test. */
export async function servePage({ home = newHome(), script, args = [] }: PageServerOptions = {}): Promise<PageServer> {
  const agent = [process.execPath, TAU, ...scriptArgs(home, script)].map((word) => `'${word}'`).join(' ');
  return start(home, ['--agent-command', agent, ...args], 0);
}

async function start(home: Home, args: readonly string[], port: number): Promise<PageServer> {
  const server = command(home, [process.execPath, TAU, 'serve', '--port', String(port), ...args]);
  await server.printed('/session\n');
  const [loginLink = ''] = server.stdout().split('\n');
  const [address = ''] = loginLink.split('#');
  return {
    home,
    loginLink,
    address,
    process: server,
    kill: async () => {
      server.child.kill('SIGKILL');
      await server.finished;
    },
    again: () => start(home, args, Number(new URL(address).port)),
  };
}

/** Types a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await page.keyboard.press('Enter');
}
