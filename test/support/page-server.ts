import type { Page } from 'playwright-core';
import { type RunningProgram, startProgram } from './command.ts';
import { type Home, newHome, scriptArgs, TAU } from './open.ts';
import { messageBox } from './page-hands.ts';

interface PageServerOptions {
  readonly home?: Home;
  /** Responses of each agent's scripted model; without them the model converses. */
  readonly script?: readonly object[];
  /** Further arguments after `serve`. */
  readonly args?: readonly string[];
}

/** A running `tau serve` of the built program. */
export interface PageServer {
  readonly home: Home;
  readonly loginLink: string;
  /** Address of the page. */
  readonly address: string;
  readonly process: RunningProgram;
  /** Kills the server with SIGKILL. */
  readonly kill: () => Promise<void>;
  /** Starts a server on the same port after this one has ended. */
  readonly restart: () => Promise<PageServer>;
}

/** Serves the page on a free port. The server and its agents end with the test. */
export async function servePage({ home = newHome(), script, args = [] }: PageServerOptions = {}): Promise<PageServer> {
  const agent = [process.execPath, TAU, ...scriptArgs(home, script)].map((word) => `'${word}'`).join(' ');
  return startPageServer(home, ['--agent-command', agent, ...args], 0);
}

async function startPageServer(home: Home, args: readonly string[], port: number): Promise<PageServer> {
  const server = startProgram(home, [process.execPath, TAU, 'serve', '--port', String(port), ...args]);
  await server.waitForOutput('/session\n');
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
    restart: () => startPageServer(home, args, Number(new URL(address).port)),
  };
}

/** Types a prompt and sends it. */
export async function submitPrompt(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await page.keyboard.press('Enter');
}
