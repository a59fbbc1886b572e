import { resolve } from 'node:path';
import { defaultShell } from '../../../agent/tools/bash/shell.ts';
import { messageOf } from '../../../protocol/errors.ts';
import { withFileMutex } from '../../../system/files/file-mutex.ts';
import { warn } from '../../../system/terminal-text.ts';
import { createEventBus } from '../api/event-bus.ts';
import * as conversation from './coding-agent/conversation.ts';
import { stripFrontmatter } from './coding-agent/frontmatter-text.ts';
import * as paths from './coding-agent/paths.ts';
import * as toolEvents from './coding-agent/tool-events.ts';
import { toolFactories } from './coding-agent/tools.ts';
import * as truncation from './coding-agent/truncation.ts';
import type { ExtensionEnvironment } from './extension-environment.ts';
import { unavailable } from './missing-names.ts';
import { Editor } from './tui/components.ts';

// Names that create agents or control the running one.
const UNAVAILABLE = [
  'AgentSession',
  'AgentSessionRuntime',
  'AuthStorage',
  'DefaultPackageManager',
  'DefaultResourceLoader',
  'ExtensionRunner',
  'InteractiveMode',
  'ModelRegistry',
  'ModelRuntime',
  'RpcClient',
  'SessionManager',
  'SettingsManager',
  'compact',
  'createAgentSession',
  'createAgentSessionFromServices',
  'createAgentSessionRuntime',
  'createAgentSessionServices',
  'discoverAndLoadExtensions',
  'generateBranchSummary',
  'generateSummary',
  'generateSummaryWithUsage',
  'main',
  'runPrintMode',
  'runRpcMode',
];

/** The exports of `pi-coding-agent`. */
export function piCodingAgent({ agentDir, shell }: ExtensionEnvironment): object {
  return {
    ...Object.fromEntries(UNAVAILABLE.map((name) => [name, unavailable(name)])),
    ...conversation,
    ...paths,
    ...toolEvents,
    ...truncation,
    ...toolFactories(shell),
    createEventBus: () => createEventBus(onListenerError),
    stripFrontmatter,
    CURRENT_SESSION_VERSION: 3,
    CustomEditor: Editor,
    getAgentDir: () => agentDir,
    getShellConfig: (shell = defaultShell()) => ({ shell, args: ['-c'] }),
    highlightCode: (code: string) => code.split('\n'),
    keyHint: (_key: string, description: string) => description,
    keyText: (key: string) => key,
    rawKeyHint: (key: string, description: string) => `${key} ${description}`,
    withFileMutationQueue: <T>(path: string, work: () => Promise<T>) => withFileMutex(resolve(path), work),
  };
}

function onListenerError(channel: string, error: unknown): void {
  warn(`a listener of ${channel} failed: ${messageOf(error)}`);
}
