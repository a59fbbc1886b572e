import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as tau from '../../../src/index.ts';
import { createTestSession } from '../../support/agent/agent-session.ts';
import { homeWithCommands, nextNotification } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

// The values that pi 1.5.0 exports for programs and extensions.
const PI_NAMES =
  `parseArgs CONFIG_DIR_NAME getAgentDir getDocsPath getExamplesPath getPackageDir getReadmePath VERSION AgentSession
  parseSkillBlock readStoredCredential calculateContextTokens collectEntriesForBranchSummary compact DEFAULT_COMPACTION_SETTINGS
  estimateTokens findCutPoint findTurnStartIndex generateBranchSummary generateSummary generateSummaryWithUsage getLastAssistantUsage
  prepareBranchEntries serializeConversation shouldCompact createEventBus createExtensionRuntime defineTool discoverAndLoadExtensions
  ExtensionRunner isBashToolResult isEditToolResult isFindToolResult isGrepToolResult isLsToolResult isPowerShellToolResult
  isReadToolResult isToolCallEventType isWriteToolResult wrapRegisteredTool wrapRegisteredTools convertToLlm ModelRegistry
  resolveCliModel resolveModelScopeWithDiagnostics CredentialSynchronizationError ModelRuntime DefaultPackageManager
  DefaultResourceLoader loadProjectContextFiles AgentSessionRuntime createAgentSession createAgentSessionFromServices
  createAgentSessionRuntime createAgentSessionServices createBashTool createCodingTools createEditTool createFindTool createGrepTool
  createLsTool createPowerShellTool createReadOnlyTools createReadTool createWriteTool buildContextEntries buildSessionContext
  buildSessionProjection CURRENT_SESSION_VERSION getLatestCompactionEntry migrateSessionEntries parseSessionEntries SessionManager
  sessionEntryToContextMessages SettingsManager formatSkillsForPrompt loadSkills loadSkillsFromDir createSyntheticSourceInfo
  generateDiffString generateUnifiedPatch createBashToolDefinition createEditToolDefinition createFindToolDefinition
  createGrepToolDefinition createLocalBashOperations createLocalPowerShellOperations createLsToolDefinition
  createPowerShellToolDefinition createReadToolDefinition createWriteToolDefinition DEFAULT_MAX_BYTES DEFAULT_MAX_LINES formatSize
  truncateHead truncateLine truncateTail withFileMutationQueue formatReadLineRange hasTrustRequiringProjectResources
  ProjectTrustStore VIRTUAL_MODEL_STATE_ENTRY createCodemodeExtension createMcpExtension createToolSearchExtension main
  InteractiveMode RpcClient runPrintMode runRpcMode ArminComponent AssistantMessageComponent BashExecutionComponent BorderedLoader
  BranchSummaryMessageComponent CompactionSummaryMessageComponent CustomEditor CustomMessageComponent DynamicBorder
  ExtensionEditorComponent ExtensionInputComponent ExtensionSelectorComponent FooterComponent keyHint keyText LoginDialogComponent
  ModelSelectorComponent OAuthSelectorComponent rawKeyHint renderDiff SessionSelectorComponent SettingsSelectorComponent
  ShowImagesSelectorComponent SkillInvocationMessageComponent ThemeSelectorComponent ThinkingSelectorComponent
  ToolExecutionComponent TreeSelectorComponent truncateToVisualLines UserMessageComponent UserMessageSelectorComponent
  getLanguageFromPath getMarkdownTheme getSelectListTheme getSettingsListTheme highlightCode initTheme Theme copyToClipboard
  parseFrontmatter stripFrontmatter convertToPng formatDimensionNote resizeImage detectSupportedImageMimeTypeFromFile
  getPowerShellConfig getShellConfig`.split(/\s+/);

it('[X97] the package has every name of pi; those that need a terminal fail at the call, with their name', () => {
  expect(PI_NAMES.filter((name) => !Object.hasOwn(tau, name))).toEqual([]);
  class Footer extends tau.FooterComponent {}
  expect(() => new Footer()).toThrow('FooterComponent');
  expect(() => new tau.InteractiveMode()).toThrow('InteractiveMode');
  expect(() => tau.main()).toThrow('main does not exist in tau');
  expect(() => new tau.RpcClient()).toThrow('RpcClient does not exist in tau: use `spawnAgent`');
  expect(new (class extends tau.Theme {})().fg('muted', 'text')).toBe('text');
  expect([tau.VERSION, tau.initTheme()]).toEqual(['1.5.0', undefined]);
});

verifies('X98', 'an extension uses the functions of pi that need no agent', async ({ open }) => {
  const { home, path } = homeWithCommands({});
  const skill = join(home.root, 'skills', 'knit', 'SKILL.md');
  mkdirSync(join(skill, '..'), { recursive: true });
  writeFileSync(skill, '---\nname: knit\ndescription: Knits socks\n---\nUse wool.');
  writeFileSync(
    path,
    `import * as sdk from '@earendil-works/pi-coding-agent';
    import { compact, findCutPoint, generateUnifiedPatch, loadSkillsFromDir, truncateHead, SessionManager } from '@earendil-works/pi-coding-agent';
    export default (pi) => {
      pi.registerCommand('use', { handler: async (args, ctx) => {
        const { skills } = loadSkillsFromDir({ dir: ${JSON.stringify(join(home.root, 'skills'))}, source: 'test' });
        const branch = ctx.sessionManager.getBranch();
        const messages = sdk.buildSessionContext(branch, ctx.sessionManager.getLeafId()).messages;
        const summary = await sdk.generateSummary(messages, ctx.model);
        ctx.ui.notify(JSON.stringify({
          patch: generateUnifiedPatch('a.txt', 'a\\nb\\n', 'a\\nc\\n').split('\\n').slice(-4, -1),
          diff: sdk.generateDiffString('a\\nb\\n', 'a\\nc\\n').firstChangedLine,
          skills: skills.map(({ name }) => name),
          prompt: sdk.formatSkillsForPrompt(skills).includes('Knits socks'),
          lines: truncateHead('a\\nb\\n').totalLines,
          cut: findCutPoint(branch, 0, branch.length, 1).isSplitTurn,
          roles: messages.map(({ role }) => role),
          open: SessionManager.open(ctx.sessionManager.getSessionFile()).getEntries().length === branch.length,
          summary,
          compact: typeof compact,
          version: sdk.VERSION,
        }));
      } });
    };`,
  );
  const { peer } = await open({ home, script: [{ text: 'hello' }, { text: 'a short summary' }] });
  await peer.run('hi');

  await peer.ok({ type: 'prompt', message: '/use' });

  expect(await nextNotification(peer)).toEqual({
    patch: [' a', '-b', '+c'],
    diff: 2,
    skills: ['knit'],
    prompt: true,
    lines: 2,
    cut: expect.any(Boolean),
    roles: ['user', 'assistant'],
    open: true,
    summary: 'a short summary',
    compact: 'function',
    version: '1.5.0',
  });
});

it('[X98] branches are prepared and summarised, skills and images are described', async () => {
  const { cwd } = newHome();
  const manager = tau.SessionManager.inMemory(cwd);
  const first = manager.appendMessage({ role: 'user', content: 'one', timestamp: 1 });
  const second = manager.appendMessage({ role: 'user', content: 'two', timestamp: 1 });
  manager.branch(first);
  const third = manager.appendMessage({ role: 'user', content: 'three', timestamp: 1 });
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  writeFileSync(join(cwd, 'dot'), png);

  const { entries, commonAncestorId } = tau.collectEntriesForBranchSummary(manager, second, third);

  expect([entries.map(({ id }) => id), commonAncestorId]).toEqual([[second], first]);
  expect(tau.prepareBranchEntries(entries).messages).toHaveLength(1);
  expect(tau.parseSkillBlock('<skill name="a" location="/a">\nbody\n</skill>\n\ndo it')).toEqual({
    name: 'a',
    location: '/a',
    content: 'body',
    userMessage: 'do it',
  });
  expect(tau.parseSkillBlock('plain')).toBeNull();
  expect(await tau.detectSupportedImageMimeTypeFromFile(join(cwd, 'dot'))).toBe('image/png');
  expect(await tau.resizeImage(png, 'image/png')).toMatchObject({ width: 1, height: 1, wasResized: false });
  await expect(tau.resizeImage(png, 'image/png', { maxBytes: 1 })).rejects.toThrow('resizeImage');
  await expect(tau.convertToPng('', 'image/gif')).rejects.toThrow('convertToPng');
});

it('[X98] trust and stored credentials are read and written as pi does', () => {
  const { cwd, agentDir, root } = newHome();
  mkdirSync(agentDir);
  writeFileSync(join(agentDir, 'auth.json'), JSON.stringify({ openai: { type: 'api_key', key: 'k' } }));
  const store = new tau.ProjectTrustStore(agentDir);

  expect([store.get(cwd), tau.hasTrustRequiringProjectResources(cwd)]).toEqual([null, false]);
  store.set(root, true);
  mkdirSync(join(cwd, '.pi', 'extensions'), { recursive: true });

  expect([store.get(cwd), store.getEntry(cwd)]).toEqual([true, { path: root, decision: true }]);
  expect(tau.hasTrustRequiringProjectResources(cwd)).toBe(true);
  store.set(root, null);
  expect(store.get(cwd)).toBeNull();
  expect(tau.readStoredCredential('openai', join(agentDir, 'auth.json'))).toEqual({ type: 'api_key', key: 'k' });
  writeFileSync(join(agentDir, 'other.json'), '{"openai":{"type":"api_key","key":"other"}}');
  expect(tau.readStoredCredential('openai', join(agentDir, 'other.json'))).toEqual({ type: 'api_key', key: 'other' });
});

it('[X98] skills are found once where links form a loop, and a linked file is no skill', () => {
  const { root } = newHome();
  const dir = join(root, 'skills');
  mkdirSync(join(dir, 'deep'), { recursive: true });
  writeFileSync(join(dir, 'deep', 'notes.txt'), '---\nname: notes\ndescription: d\n---\n');
  for (const name of ['a', 'b', 'c', 'd', 'e']) symlinkSync(dir, join(dir, name));
  symlinkSync(join(dir, 'deep', 'notes.txt'), join(dir, 'linked.txt'));
  mkdirSync(join(dir, 'z'));
  writeFileSync(join(dir, 'z', 'SKILL.md'), '---\nname: z\ndescription: d\n---\nDo it');

  const { skills, diagnostics } = tau.loadSkillsFromDir({ dir, source: 'test' });

  expect([skills.map(({ filePath }) => filePath), diagnostics]).toEqual([[join(dir, 'z', 'SKILL.md')], []]);
});

it('[X99] an export to the file of the session is refused, also over a link', async () => {
  const { session, home } = await createTestSession({ answers: [{ text: 'hello' }] });
  await session.prompt('hi');
  const file = session.sessionFile ?? '';
  const link = join(home.root, 'link.jsonl');
  symlinkSync(file, link);
  const before = readFileSync(file, 'utf8');

  for (const path of [file, link]) expect(() => session.exportToJsonl(path)).toThrow('file of the session itself');

  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(session.sessionManager.getEntryCount()).toBe(session.sessionManager.getEntries().length);
});

it('[X99] a session has the members of pi that the protocol has no command for', async () => {
  const tool = {
    name: 'count',
    label: 'Count',
    description: 'Counts',
    parameters: { type: 'object', properties: {} },
    execute: async () => ({ content: [{ type: 'text' as const, text: '1' }], details: {} }),
  };
  const { session, home } = await createTestSession({
    customTools: [tool],
    answers: [{ text: 'hello' }, { text: 'it broke' }],
  });
  await session.prompt('hi');
  const running = session.executeBash('cat', undefined, {
    operations: {
      exec: async (_command, _cwd, { onData }) => {
        onData(Buffer.from('from elsewhere'));
        return { exitCode: 0 };
      },
    },
  });
  const wasRunning = session.isBashRunning;
  const scripted = session.modelRegistry.find('tau', 'scripted-small');
  session.setScopedModels(scripted ? [{ model: scripted }] : []);
  session.refreshContext();

  expect([wasRunning, (await running).output, session.isBashRunning]).toEqual([true, 'from elsewhere', false]);
  expect([session.hasPendingBashMessages, session.routedModel, session.cacheWarmingStatus]).toEqual([
    false,
    undefined,
    undefined,
  ]);
  expect(session.getToolDefinition('count')).toMatchObject({ description: 'Counts' });
  expect(session.getCallableToolNames()).toContain('count');
  expect(session.scopedModels).toMatchObject([{ model: { id: 'scripted-small' } }]);
  expect(session.createReplacedSessionContext().cwd).toBe(home.cwd);
  const signal = AbortSignal.timeout(60_000);
  expect(await session.summarizeForBugReport({ hint: 'it hangs', signal })).toBe('it broke');
  const copy = tau.SessionManager.open(session.exportToJsonl());
  expect(copy.getEntries().map(({ id }) => id)).toEqual(session.sessionManager.getBranch().map(({ id }) => id));
});
