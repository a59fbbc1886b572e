import type { Page } from 'playwright-core';
import { type Home, newHome, openTestAgent, scriptArgs, TAU } from '../agent/test-agent.ts';
import { type RunningProgram, startProgram } from '../processes/program.ts';
import { shortConversation, storeSession } from '../sessions/stored-session.ts';
import type { View, Visit } from './browser.ts';
import { messageBox, visitByLoginLink } from './page-actions.ts';

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

/** Opens the page of a session that another program has locked and waits for the notice. */
export async function visitLockedSession(visit: Visit, home: Home) {
  const path = storeSession(home, shortConversation(home.cwd));
  const holder = await openTestAgent('stdio', { home, args: ['--session', path] });
  await holder.peer.ok({ type: 'get_state' });
  const server = await servePage({ home });
  const view: View = await visitByLoginLink(visit, server);
  await view.page.goto(`${server.address}?session=stored-1`);
  const heading = view.page.getByRole('heading', { name: 'This session cannot be opened now' });
  await heading.waitFor();
  return { ...view, holder, server, heading };
}
