import { resolve } from 'node:path';
import { defaultShell } from '../../../agent/tools/bash/shell.ts';
import { messageOf } from '../../../protocol/errors.ts';
import { ROUTER_STATE_TYPE } from '../../../session/run/routing.ts';
import { withFileMutex } from '../../../system/files/file-mutex.ts';
import { warn } from '../../../system/terminal-text.ts';
import { createEventBus } from '../api/event-bus.ts';
import {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  migrateSessionEntries,
  sessionEntryToContextMessages,
} from '../api/session-entries.ts';
import * as conversation from './coding-agent/conversation.ts';
import * as images from './coding-agent/images.ts';
import * as paths from './coding-agent/paths.ts';
import * as storedFiles from './coding-agent/stored-files.ts';
import * as toolEvents from './coding-agent/tool-events.ts';
import { toolFactories } from './coding-agent/tools.ts';
import * as truncation from './coding-agent/truncation.ts';
import type { ExtensionEnvironment } from './extension-environment.ts';
import { unavailable } from './missing-names.ts';
import { Editor } from './tui/components.ts';
import { PlainTheme } from './tui/theme.ts';

// Names that need a terminal of their own, act outside of the agent, or are replaced where agents can be created.
const UNAVAILABLE = [
  'AgentSession',
  'AgentSessionRuntime',
  'AuthStorage',
  'DefaultResourceLoader',
  'ExtensionRunner',
  'ModelRegistry',
  'ModelRuntime',
  'SessionManager',
  'SettingsManager',
  'createAgentSession',
  'createAgentSessionFromServices',
  'createAgentSessionRuntime',
  'createAgentSessionServices',
  'createExtensionRuntime',
  'discoverAndLoadExtensions',
  'resolveCliModel',
  'resolveModelScopeWithDiagnostics',
  'DefaultPackageManager',
  'InteractiveMode',
  'RpcClient',
  'createCodemodeExtension',
  'createMcpExtension',
  'createPowerShellTool',
  'createPowerShellToolDefinition',
  'createLocalPowerShellOperations',
  'createToolSearchExtension',
  'getPowerShellConfig',
  'main',
  'runPrintMode',
  'runRpcMode',
];

/** The exports of `pi-coding-agent`. */
export function piCodingAgent(environment: ExtensionEnvironment) {
  return {
    ...Object.fromEntries(UNAVAILABLE.map((name) => [name, unavailable(name)])),
    ...piFunctions(environment),
  };
}

/** Those that work. */
export function piFunctions(environment: ExtensionEnvironment) {
  const { shell } = environment;
  return {
    ...conversation,
    buildContextEntries,
    buildSessionContext,
    buildSessionProjection,
    migrateSessionEntries,
    sessionEntryToContextMessages,
    ...images,
    ...storedFiles,
    ...paths,
    ...toolEvents,
    ...truncation,
    ...toolFactories(shell),
    createEventBus: () => createEventBus(onListenerError),
    CURRENT_SESSION_VERSION: 3,
    CustomEditor: Editor,
    Theme: PlainTheme,
    getAgentDir: () => environment.agentDir,
    getShellConfig: (shell = defaultShell()) => ({ shell, args: ['-c'] }),
    // There is no screen.
    initTheme: (_name?: string): void => {},
    VIRTUAL_MODEL_STATE_ENTRY: ROUTER_STATE_TYPE,
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
