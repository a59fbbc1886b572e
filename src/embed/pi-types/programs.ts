import type { EventBus } from '../../extend/extensions/api/event-bus.ts';
import type { DialogOptions } from '../../extend/extensions/api/ui.ts';
import type { SystemPromptOptions } from '../../extend/extensions/events.ts';
import type {
  CommandDefinition,
  ExtensionAPI,
  ExtensionCommandContext,
  ExtensionContext,
  FlagDefinition,
} from '../../extend/extensions/extension-api.ts';
import type { loadSkillsFromDir, parseSkillBlock } from '../../extend/extensions/pi-shims/coding-agent/skills.ts';
import type { TerminalObject } from '../../extend/extensions/terminal-api.ts';
import type { RouteRequest } from '../../model/registry/virtual-models.ts';
import type { CustomProvider } from '../../store/models-file.ts';
import type { PackageSetting, Settings } from '../../store/settings.ts';
import type { ModelScopeDiagnostic, ScopedModel } from '../models/resolve-models.ts';
import type { SourceInfo } from '../resources/load-extensions.ts';

export type { EventBus } from '../../extend/extensions/api/event-bus.ts';
export type { SystemPromptOptions as BuildSystemPromptOptions } from '../../extend/extensions/events.ts';
export type {
  CompactOptions,
  ExecOptions,
  ExecResult,
  ExtensionCommandContext,
  ExtensionToolContext,
  ExtensionVirtualModel,
} from '../../extend/extensions/extension-api.ts';
export type { ExtensionMcpServer as RegisteredMcpServer } from '../../extend/mcp/extension-servers.ts';
export type { ProviderConfig } from '../../model/registry/provider-config.ts';
export type {
  ModelRoute,
  RouteRequest as ModelRouteRequest,
  VirtualModelDefinition,
} from '../../model/registry/virtual-models.ts';
export type { ExtensionFailure as ExtensionError } from '../extension-runner.ts';
export type { ModelScopeDiagnostic } from '../models/resolve-models.ts';
export type { ExtensionRuntime, LoadedExtension as Extension } from '../resources/load-extensions.ts';
export type { SettingsManagerCreateOptions } from '../settings/settings-manager.ts';
/** Pi's names of the parts of extensions, models, resources and settings. */
export interface EventBusController extends EventBus {
  clear(): void;
}

export type NormalizedBuildSystemPromptOptions = SystemPromptOptions;
export type ExtensionUIDialogOptions = DialogOptions;
export type ExtensionActions = Partial<ExtensionAPI>;
export type ExtensionContextActions = Partial<ExtensionContext>;
export type ExtensionCommandContextActions = Omit<ExtensionCommandContext, keyof ExtensionContext>;

export interface ExtensionFlag extends FlagDefinition {
  name: string;
  extensionPath: string;
}

export interface ExtensionShortcut {
  shortcut: string;
  description?: string;
  handler: (ctx: ExtensionContext) => unknown;
  extensionPath: string;
}

export interface RegisteredCommand extends CommandDefinition {
  name: string;
  sourceInfo: SourceInfo;
}

export interface ResolvedCommand extends RegisteredCommand {
  invocationName: string;
}

export type SlashCommandSource = 'extension' | 'prompt' | 'skill';

export interface SlashCommandInfo {
  name: string;
  description?: string;
  source: SlashCommandSource;
  sourceInfo: SourceInfo;
}

export type ProviderModelConfig = NonNullable<CustomProvider['models']>[number];
export type ModelRouteReason = RouteRequest['reason'];

export interface VirtualModelStateData {
  provider: string;
  modelId: string;
  state: unknown;
}

export interface ModelInfo {
  provider: string;
  id: string;
  contextWindow: number;
  reasoning: boolean;
}

export interface ModelRuntimeAuthOverrides {
  apiKey?: string;
  env?: Record<string, string>;
  signal?: AbortSignal;
}

export type CredentialSynchronizationOperation = 'login' | 'logout' | 'setRuntimeApiKey' | 'removeRuntimeApiKey';

export interface ResolveModelScopeResult {
  scopedModels: ScopedModel[];
  diagnostics: ModelScopeDiagnostic[];
}

export type LoadSkillsFromDirOptions = Parameters<typeof loadSkillsFromDir>[0];
export type LoadSkillsResult = ReturnType<typeof loadSkillsFromDir>;
export type ParsedSkillBlock = NonNullable<ReturnType<typeof parseSkillBlock>>;

export interface SkillFrontmatter {
  name?: string;
  description?: string;
  'disable-model-invocation'?: boolean;
  [key: string]: unknown;
}

export interface PathMetadata {
  source: string;
  scope: SourceInfo['scope'];
  origin: SourceInfo['origin'];
  baseDir?: string;
}

export interface ResolvedResource {
  path: string;
  enabled: boolean;
  metadata: PathMetadata;
}

export type ResolvedPaths = Record<'extensions' | 'skills' | 'prompts' | 'themes', ResolvedResource[]>;

export interface ResourceCollision {
  resourceType: 'extension' | 'skill' | 'prompt' | 'theme';
  name: string;
  winnerPath: string;
  loserPath: string;
}

export type ProjectTrustDecision = boolean | null;

export interface ProjectTrustStoreEntry {
  path: string;
  decision: boolean;
}

export interface ProjectTrustUpdate {
  path: string;
  decision: ProjectTrustDecision;
}

export type CompactionSettings = NonNullable<Settings['compaction']>;
export type CompactionModelOverride = Pick<CompactionSettings, 'reserveTokens' | 'keepRecentTokens'>;
export type RetrySettings = NonNullable<Settings['retry']>;
export type ImageSettings = NonNullable<Settings['images']> & { readonly autoResize?: boolean };
export type DefaultProjectTrust = NonNullable<Settings['defaultProjectTrust']>;
export type PackageSource = PackageSetting;

/** Parts of pi that tau lacks. */
export type AgentSessionConfig = TerminalObject;
export type Args = TerminalObject;
export type CacheWarmingDecision = TerminalObject;
export type CacheWarmingDecisionEvent = TerminalObject;
export type CacheWarmingDecisionEventResult = TerminalObject;
export type CacheWarmingMode = TerminalObject;
export type CacheWarmingStatus = TerminalObject;
export type CodemodeExtensionOptions = TerminalObject;
export type CodemodeStoreEntryData = TerminalObject;
export type CodemodeToolDetails = TerminalObject;
export type LoadedMcpConfig = TerminalObject;
export type McpExposure = TerminalObject;
export type McpExtensionOptions = TerminalObject;
export type McpServerConfig = TerminalObject;
export type McpServerEntry = TerminalObject;
export type McpTransportFactory = TerminalObject;
export type PackageInstallFailure = TerminalObject;
export type PackageManager = TerminalObject;
export type ProgressCallback = TerminalObject;
export type ProgressEvent = TerminalObject;
export type MainOptions = TerminalObject;
export type InteractiveModeOptions = TerminalObject;
export type PrintModeOptions = TerminalObject;
export type RpcClientOptions = TerminalObject;
