import { mkdirSync } from 'node:fs';
import { withPage } from './browser.mjs';
import { writeLongSession } from './long-session.mjs';
import { withServer } from './server.mjs';

const MESSAGES = 10_000;

/** Calls `use` with a page and the address of a session of 10,000 messages that no agent has opened yet. */
export function withLongPage(workspace, use) {
  const cwd = workspace.path('project');
  const folder = workspace.path(`agent/sessions/--${cwd.slice(1).replaceAll('/', '-')}--`);
  mkdirSync(folder, { recursive: true });
  writeLongSession(`${folder}/long.jsonl`, { cwd, messages: MESSAGES });
  const script = workspace.file('instant.jsonl', '{"text":"ok"}\n{"repeat":true}\n');
  return withServer(workspace, { script }, ({ loginLink }) =>
    withPage(loginLink, (page) => use(page, { home: loginLink.split('#')[0], query: '?session=bench' })),
  );
}

/** An expression for the time at which the first message is painted. */
export const SHOWN = `new Promise((resolve) => {
  const look = () => {
    if (document.querySelector('.list article')) requestAnimationFrame(() => resolve(performance.now()));
    else requestAnimationFrame(look);
  };
  look();
})`;
