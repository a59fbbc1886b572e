import type { Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { newHome } from '../support/agent/test-agent.ts';
import { auditLogs } from '../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../support/cluster/cluster-nodes.ts';
import { startFailoverProxy } from '../support/cluster/failover-proxy.ts';
import { testCluster } from '../support/cluster/test-cluster.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { visibleText } from '../support/page/export-page.ts';
import { main, messageBox, waitForDraft } from '../support/page/page-actions.ts';
import { submitPrompt } from '../support/page/page-server.ts';
import type { Target } from '../support/server/attack-target.ts';

const { visit } = useBrowser();
const cluster = testCluster();

const script = [
  { steps: [{ text: 'Once upon a time ' }, { stall: true }], when: 'tale', keep: true },
  { text: 'I am here.', when: 'there', keep: true },
];

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

const connection = (page: Page) => page.getByRole('status', { name: 'Connection' });

const proxied = [...ONE_REPLICA, '--allow-host', '127.0.0.1'];

/** A page that is connected to the first of two nodes, through a proxy in front of both. */
async function visitBoth(a: Target, b: Target): Promise<Page> {
  const port = await startFailoverProxy([a.port, b.port]);
  // The browser logs in on both: it sends its cookies to every port of the host.
  const direct = await visit(`http://127.0.0.1:${b.port}/#code=${b.code}`);
  await messageBox(direct.page).waitFor();
  const { page } = await openTab(direct, `http://127.0.0.1:${port}/#code=${a.code}`);
  await direct.page.close();
  await submitPrompt(page, 'Are you there?');
  await main(page).getByText('I am here.').waitFor();
  return page;
}

/** A page that is connected to the first of two nodes with one workspace. */
async function visitThroughProxy(names: readonly [string, string]) {
  const { cwd } = newHome();
  const start = (name: string) => startNode(cluster.server.url, name, { cwd, script, args: proxied });
  const [a, b] = await Promise.all([start(names[0]), start(names[1])]);
  return { page: await visitBoth(a, b), kill: () => process.kill(a.pid, 'SIGKILL') };
}

/** Counts the occurrences of a text in the conversation. */
const countText = async (page: Page, text: string): Promise<number> =>
  (await visibleText(main(page))).split(text).length - 1;

/** The texts of the user messages in all logs. */
async function storedPrompts(page: Page): Promise<readonly string[]> {
  const sessionId = new URL(page.url()).searchParams.get('session') ?? '';
  const entries = (await auditLogs([cluster.server.url])).get(sessionId)?.entries ?? [];
  return entries.flatMap(({ message }) => (message?.role === 'user' ? [message.content[0].text] : []));
}

it('[W165] when the node of an idle page dies, the page continues on another with the text that was not sent', async () => {
  const { page, kill } = await visitThroughProxy(['idle-a', 'idle-b']);
  await messageBox(page).fill('Are you there again?');

  kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  await connection(page).waitFor({ state: 'hidden' });
  await waitForDraft(page, 'Are you there again?');
  await messageBox(page).press('Enter');
  await main(page).getByText('I am here.').nth(1).waitFor();

  for (const text of ['Are you there?', 'Are you there again?']) expect(await countText(page, text)).toBe(1);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await storedPrompts(page)).toEqual(['Are you there?', 'Are you there again?']);
});

it('[W165] when the node of a page dies during an answer, the page names the interruption, and a prompt arrives once', async () => {
  const { page, kill } = await visitThroughProxy(['run-a', 'run-b']);
  await submitPrompt(page, 'Tell me a tale');
  await main(page).getByText('Once upon a time').waitFor();

  kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  const meanwhile = await visibleText(main(page));
  await submitPrompt(page, 'Are you there again?');
  await page.getByRole('status').getByText('The run was interrupted: its server ended').waitFor();
  await main(page).getByText('I am here.').nth(1).waitFor();
  await page.reload();
  await main(page).getByText('I am here.').nth(1).waitFor();

  expect(meanwhile).toContain('Once upon a time');
  for (const text of ['Are you there?', 'Tell me a tale', 'Are you there again?'])
    expect(await countText(page, text)).toBe(1);
  expect(await storedPrompts(page)).toEqual(['Are you there?', 'Tell me a tale', 'Are you there again?']);
});

it('[W165] while the folder of a session is on a dead node only, the page names the node, and continues when it is back', async () => {
  const home = newHome();
  const start = (name: string, cwd: string, more: object) =>
    startNode(cluster.server.url, name, { cwd, shared: [], script, args: proxied, ...more });
  const [a, b] = await Promise.all([start('home-a', home.cwd, { home }), start('home-b', newHome().cwd, {})]);
  const page = await visitBoth(a, b);

  process.kill(a.pid, 'SIGKILL');
  await connection(page).getByText('Its folder is on node home-a, which is away').waitFor();
  const headline = await connection(page).getByRole('strong').textContent();
  const meanwhile = await visibleText(main(page));
  await start('home-a', home.cwd, { home, port: a.port });
  await connection(page).waitFor({ state: 'hidden' });
  await submitPrompt(page, 'Are you there again?');
  await main(page).getByText('I am here.').nth(1).waitFor();

  expect(headline).toBe('This session cannot be opened now');
  expect(meanwhile).toContain('I am here.');
  expect(await countText(page, 'Are you there?')).toBe(1);
});
