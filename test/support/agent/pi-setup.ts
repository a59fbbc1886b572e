import { type Home, newHome } from './test-agent.ts';
import { writeFiles } from './user-files.ts';

const GATE = `import type { ExtensionAPI } from '@earendil-works/pi-coding-agent';
export default function (pi: ExtensionAPI) {
  pi.registerCommand('gate', { handler: async (_args, ctx) => ctx.ui.notify('gate') });
}
`;

const FOOTER = `import type { ExtensionAPI } from '@earendil-works/pi-coding-agent';
import { Text } from '@earendil-works/pi-tui';
export default function (pi: ExtensionAPI) {
  pi.on('session_start', (_event, ctx) => ctx.ui.setFooter?.(() => new Text('footer', 0, 0)));
  pi.registerCommand('footer', { handler: async (_args, ctx) => ctx.ui.notify('footer') });
}
`;

/** The lines of a session that pi 1.5 has stored for the project folder. */
const sessionLines = (cwd: string) =>
  [
    {
      type: 'session',
      version: 3,
      id: '0199aaaa-0000-7000-8000-000000000001',
      timestamp: '2026-11-01T10:00:00.000Z',
      cwd,
    },
    { type: 'model_change', id: 'aaaaaaa1', parentId: null, provider: 'gateway', modelId: 'large' },
    { type: 'thinking_level_change', id: 'aaaaaaa2', parentId: 'aaaaaaa1', thinkingLevel: 'off' },
    {
      type: 'message',
      id: 'aaaaaaa3',
      parentId: 'aaaaaaa2',
      message: { role: 'user', content: [{ type: 'text', text: 'Where is the shop?' }], timestamp: 1 },
    },
    {
      type: 'message',
      id: 'aaaaaaa4',
      parentId: 'aaaaaaa3',
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'In src/shop.' }],
        api: 'openai-completions',
        provider: 'gateway',
        model: 'large',
        usage: {
          input: 9,
          output: 3,
          cacheRead: 0,
          cacheWrite: 0,
          totalTokens: 12,
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
        },
        stopReason: 'stop',
        timestamp: 2,
      },
    },
  ]
    .map((entry) => `${JSON.stringify({ timestamp: '2026-11-01T10:00:01.000Z', ...entry })}\n`)
    .join('');

/** The files of a user of pi 1.5: settings, a custom provider, credentials, extensions, packages, MCP servers and sessions. */
export function newPiSetup(baseUrl = 'http://127.0.0.1:9/v1'): Home {
  const home = newHome();
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  const folder = `--${home.cwd.slice(1).replaceAll('/', '-')}--`;
  writeFiles(home, {
    'agent/settings.json': json({
      $schema: 'settings.schema.json',
      lastChangelogVersion: '1.5.0',
      defaultProvider: 'gateway',
      defaultModel: 'large',
      theme: 'dark',
      terminal: { showImages: true },
      compaction: { enabled: true, modelOverrides: {} },
      cacheWarming: 'off',
      packages: ['npm:pi-mcp-adapter', 'npm:pi-absent'],
    }),
    'agent/models.json': json({
      providers: {
        gateway: { baseUrl, apiKey: 'key-of-the-gateway', api: 'openai-completions', models: [{ id: 'large' }] },
        broken: { baseUrl: 'not a url', models: [{ id: 'x' }] },
      },
    }),
    'agent/auth.json': json({
      openai: { type: 'api_key', key: 'sk-of-openai' },
      anthropic: { type: 'oauth', access: 'sk-ant-oat-secret', refresh: 'r', expires: 4_000_000_000_000 },
      radius: { type: 'oauth', access: 'access-secret', refresh: 'r', expires: 4_000_000_000_000 },
    }),
    'agent/mcp.json': json({
      mcpServers: { files: { command: 'true', auth: {} }, off: { command: 'true', enabled: false }, bad: { args: 5 } },
    }),
    'agent/keybindings.json': json({ 'app.interrupt': 'escape' }),
    'agent/themes/mine.json': '{}',
    'agent/prompts/review.md': 'Review $1.\n',
    'agent/extensions/gate.ts': GATE,
    'agent/extensions/footer.ts': FOOTER,
    'agent/npm/node_modules/pi-mcp-adapter/package.json': json({
      name: 'pi-mcp-adapter',
      version: '2.0.0',
      pi: { extensions: ['./index.ts'] },
    }),
    'agent/npm/node_modules/pi-mcp-adapter/index.ts': 'export default function () {}\n',
    [`agent/sessions/${folder}/2026-11-01T10-00-00-000Z_0199aaaa-0000-7000-8000-000000000001.jsonl`]: sessionLines(
      home.cwd,
    ),
  });
  return home;
}
