import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findExtensions } from '../../extend/extensions/load/find-extensions.ts';
import { packageResources } from '../../extend/extensions/load/package-resources.ts';
import { contextFiles, forbiddenContextFiles } from '../../extend/prompt-parts.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import { forbiddenSignIn } from '../../model/sign-in/sign-in-providers.ts';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { sessionsFolder } from '../../store/agent-dir.ts';
import { readCredentials } from '../../store/credentials.ts';
import { readJsonObject } from '../../store/json-file.ts';
import { readMcpFiles } from '../../store/mcp/mcp-file.ts';
import { readModelsFile } from '../../store/models-file.ts';
import { type PackageSetting, sortSettings } from '../../store/settings.ts';
import type { Project } from '../project.ts';
import { type Check, fine, problem, warning } from './finding.ts';
import { storedSessionFindings } from './session-files.ts';

interface PiSetup {
  readonly agentDir: string;
  readonly project: () => Project;
  readonly registry: () => Promise<ModelRegistry>;
}

/** Checks of an existing set-up of pi: what tau uses of it, and what it does not. They change nothing and run no command. */
export const piChecks = ({ agentDir, project, registry }: PiSetup): Readonly<Record<string, Check>> => ({
  'agent folder': () => agentFolderFinding(agentDir),
  'settings.json': () => settingsFindings('settings.json', join(agentDir, 'settings.json')),
  '.pi/settings.json': () => projectSettingsFindings(project()),
  'models.json': () => modelsFindings(agentDir),
  'auth.json': async () => credentialFindings(agentDir, await registry()),
  extensions: () => extensionFindings(agentDir, project()),
  packages: () => packageFindings(agentDir, project()),
  'mcp.json': () => mcpFindings(agentDir, project()),
  resources: () => resourceFindings(agentDir, project()),
  sessions: () => storedSessionFindings([sessionsFolder(agentDir)]),
});

const agentFolderFinding = (agentDir: string): Finding =>
  existsSync(agentDir)
    ? fine('agent folder', `${agentDir}: pi and tau share it`)
    : warning('agent folder', `${agentDir} does not exist: there is no set-up of pi here`);

// Settings of pi for its terminal, its updates and its statistics.
const TERMINAL_SETTINGS = new Set(
  `$schema autocompleteMaxVisible collapseChangelog doubleEscapeAction editorPaddingX enableAnalytics
  enableInstallTelemetry extensionChangelogVersions externalEditor fullscreenCopyOnSelect fullscreenExitOutput
  fullscreenScrollbar fullscreenWheelScrollLines hideThinkingBlock lastChangelogVersion markdown npmCommand outputPad
  quietStartup selfUpdateCommand sessionShareDestination showCacheMissNotices showHardwareCursor terminal theme themes
  trackingId treeFilterMode tuiMode warnings`.split(/\s+/),
);

function projectSettingsFindings({ cwd, trusted }: Project): readonly Finding[] {
  const check = '.pi/settings.json';
  const path = join(cwd, check);
  if (!existsSync(path)) return [];
  return trusted ? settingsFindings(check, path) : [warning(check, `${path}: not used, because ${UNTRUSTED}`)];
}

const UNTRUSTED = 'the project is not trusted';

function settingsFindings(check: string, path: string): readonly Finding[] {
  const values = readJsonObject(path);
  if (!values) return [fine(check, 'Not there')];
  const { used, unused } = sortSettings(values);
  const isForTerminal = (name: string) => TERMINAL_SETTINGS.has(name.split('.')[0] ?? '');
  const terminal = unused.filter(isForTerminal);
  const ignored = unused.filter((name) => !isForTerminal(name));
  return [
    ...(used.length > 0 ? [fine(check, `Used: ${used.join(', ')}`)] : []),
    ...(terminal.length > 0 ? [fine(check, `Only for pi's terminal and updates: ${terminal.join(', ')}`)] : []),
    ...(ignored.length > 0 ? [warning(check, `tau itself does not use ${ignored.join(', ')}`)] : []),
  ];
}

function modelsFindings(agentDir: string): readonly Finding[] {
  const { providers, problems } = readModelsFile(agentDir);
  const used = [...providers].map(([name, { models = [], modelOverrides = {} }]) =>
    fine('models.json', `${name}: ${models.length} models, ${Object.keys(modelOverrides).length} changed ones`),
  );
  const all = [...used, ...problems.map((text) => warning('models.json', `Ignored: ${text}`))];
  return all.length > 0 ? all : [fine('models.json', 'No providers')];
}

async function credentialFindings(agentDir: string, registry: ModelRegistry): Promise<readonly Finding[]> {
  const check = 'auth.json';
  const { credentials, problems } = readCredentials(agentDir);
  await registry.load({ anyway: true });
  const providers = new Set(registry.available().map(({ provider }) => provider));
  const found = [...credentials].map(([provider, { type }]) => {
    const kind = type === 'oauth' ? 'sign-in' : 'key';
    const forbidden = type === 'oauth' ? forbiddenSignIn(provider) : undefined;
    if (forbidden !== undefined) return warning(check, `${provider} (sign-in): not used. ${forbidden}`);
    if (providers.has(provider)) return fine(check, `${provider} (${kind}): used`);
    return warning(check, `${provider} (${kind}): not used, because tau has no models of this provider`);
  });
  const all = [...found, ...problems.map((text) => problem(check, text))];
  return all.length > 0 ? all : [fine(check, 'No credentials')];
}

// The part of an extension that is searched for imports.
const MAX_SEARCHED_BYTES = 256 * 1024;

function extensionFindings(agentDir: string, { cwd, trusted, settings }: Project): readonly Finding[] {
  const { found, warnings } = findExtensions({
    agentDir,
    cwd,
    trusted,
    discover: true,
    fromSettings: settings.extensions ?? [],
    fromFlags: [],
    fromPackages: packageResources(settings.packages ?? [], { agentDir, cwd, trusted }).extensions,
  });
  if (found.length + warnings.length === 0) return [fine('extensions', 'None')];
  return [...found.map(({ path }) => extensionFinding(path)), ...warnings.map((text) => warning('extensions', text))];
}

function extensionFinding(path: string): Finding {
  const text = readStart(path);
  if (!/['"]@(?:earendil-works|mariozechner)\/pi-tui['"]/.test(text)) return fine('extensions', path);
  return warning('extensions', `${path}: loaded, but it imports pi-tui, whose components do nothing`);
}

function readStart(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(MAX_SEARCHED_BYTES);
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

function packageFindings(agentDir: string, { cwd, trusted, settings: { packages = [] } }: Project): readonly Finding[] {
  if (packages.length === 0) return [fine('packages', 'None')];
  return packages.map((setting) => {
    const { extensions, skills, prompts, warnings } = packageResources([setting], { agentDir, cwd, trusted });
    const [missing] = warnings;
    if (missing !== undefined) return warning('packages', missing);
    const parts = `${extensions.length} extensions, ${skills.length} skills, ${prompts.length} templates`;
    return fine('packages', `${sourceOf(setting)}: ${parts}`);
  });
}

const sourceOf = (setting: PackageSetting) => (typeof setting === 'string' ? setting : setting.source);

function mcpFindings(agentDir: string, { cwd, trusted, settings: { packages = [] } }: Project): readonly Finding[] {
  const { servers, problems, unused } = readMcpFiles({ agentDir, cwd, trusted });
  const hasAdapter = packages.some((setting) => sourceOf(setting).includes('pi-mcp-adapter'));
  const all = [
    ...[...servers].map(([name, { disabled }]) =>
      fine('mcp.json', `${name}: ${disabled ? 'disabled' : 'tau connects it'}`),
    ),
    ...problems.map((text) => warning('mcp.json', `Ignored: ${text}`)),
    ...unused.map((text) => warning('mcp.json', text)),
    ...(hasAdapter && servers.size > 0
      ? [warning('mcp.json', 'pi-mcp-adapter reads this file too: see "MCP servers" in docs/from-pi.md')]
      : []),
  ];
  return all.length > 0 ? all : [fine('mcp.json', 'No servers')];
}

// Files and folders beside the settings, with their use in tau.
const RESOURCES = {
  skills: 'used',
  prompts: 'used',
  'AGENTS.md': 'used',
  'SYSTEM.md': 'used',
  'APPEND_SYSTEM.md': 'used',
  'keybindings.json': "only for pi's terminal",
  themes: "only for pi's terminal",
} as const;

function resourceFindings(agentDir: string, { cwd, trusted }: Project): readonly Finding[] {
  const own = Object.entries(RESOURCES)
    .filter(([name]) => isFilled(join(agentDir, name)))
    .map(([name, use]) => fine(name, `${join(agentDir, name)}: ${use}`));
  const folders = ['.pi/skills', '.pi/prompts', '.pi/agent/skills', '.pi/agent/prompts'].filter((name) =>
    isFilled(join(cwd, name)),
  );
  const contextPaths = contextFiles({ agentDir, cwd, trusted })
    .map(({ path }) => path)
    .filter((path) => dirname(path) !== agentDir);
  return [
    ...own,
    ...folders.map((name) => fine(name, `${join(cwd, name)}: used`)),
    ...contextPaths.map((path) => fine(basename(path), `${path}: used`)),
    ...forbiddenContextFiles({ agentDir, cwd, trusted }).map(({ path, reason }) =>
      warning(basename(path), `${path}: not used: ${reason}`),
    ),
  ];
}

function isFilled(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() ? readdirSync(path).length > 0 : stats !== undefined;
}
