import { summaryFunctions } from '../../extend/extensions/pi-shims/coding-agent/summaries.ts';
import { unavailable } from '../../extend/extensions/pi-shims/missing-names.ts';
import { piFunctions } from '../../extend/extensions/pi-shims/pi-coding-agent.ts';
import { agentDir } from '../../store/agent-dir.ts';
import { newUuid } from '../../store/sessions/random-id.ts';

export { generateDiffString, generateUnifiedPatch } from '../../extend/extensions/pi-shims/coding-agent/diffs.ts';
export {
  parseFrontmatter,
  stripFrontmatter,
} from '../../extend/extensions/pi-shims/coding-agent/frontmatter.ts';
export {
  formatSkillsForPrompt,
  loadProjectContextFiles,
  loadSkills,
  loadSkillsFromDir,
  parseSkillBlock,
} from '../../extend/extensions/pi-shims/coding-agent/skills.ts';
export {
  collectEntriesForBranchSummary,
  findCutPoint,
  findTurnStartIndex,
  prepareBranchEntries,
} from '../../extend/extensions/pi-shims/coding-agent/summaries.ts';

const family = newUuid();

// The surroundings of functions that no agent calls.
const environment = {
  get agentDir() {
    return agentDir(process.env);
  },
  shell: () => ({ cwd: process.cwd(), env: process.env, family }),
};

/** The functions of pi's package that need no agent. */
export const {
  CONFIG_DIR_NAME,
  CURRENT_SESSION_VERSION,
  DEFAULT_COMPACTION_SETTINGS,
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_LINES,
  ProjectTrustStore,
  Theme,
  VERSION,
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  calculateContextTokens,
  convertToLlm,
  convertToPng,
  createBashTool,
  createBashToolDefinition,
  createCodingTools,
  createEditTool,
  createEditToolDefinition,
  createEventBus,
  createFindTool,
  createFindToolDefinition,
  createGrepTool,
  createGrepToolDefinition,
  createLocalBashOperations,
  createLsTool,
  createLsToolDefinition,
  createReadOnlyTools,
  createReadTool,
  createReadToolDefinition,
  createSyntheticSourceInfo,
  createWriteTool,
  createWriteToolDefinition,
  defineTool,
  detectSupportedImageMimeTypeFromFile,
  estimateTokens,
  formatDimensionNote,
  formatSize,
  getAgentDir,
  getDocsPath,
  getExamplesPath,
  getLastAssistantUsage,
  getLatestCompactionEntry,
  getPackageDir,
  getReadmePath,
  getShellConfig,
  hasTrustRequiringProjectResources,
  highlightCode,
  initTheme,
  isBashToolResult,
  isEditToolResult,
  isFindToolResult,
  isGrepToolResult,
  isLsToolResult,
  isPowerShellToolResult,
  isReadToolResult,
  isToolCallEventType,
  isWriteToolResult,
  keyHint,
  keyText,
  migrateSessionEntries,
  parseSessionEntries,
  rawKeyHint,
  readStoredCredential,
  resizeImage,
  serializeConversation,
  sessionEntryToContextMessages,
  shouldCompact,
  truncateHead,
  truncateLine,
  truncateTail,
  VIRTUAL_MODEL_STATE_ENTRY,
  withFileMutationQueue,
} = piFunctions(environment);

export const { compact, generateBranchSummary, generateSummary, generateSummaryWithUsage } = summaryFunctions(
  () => environment,
);

/** A name of pi that can be imported and extended; to call or construct it throws an error with its name. */
export type UnavailableName = (new (...args: unknown[]) => object) & ((...args: unknown[]) => never);

const absent = (name: string, reason: string) =>
  unavailable(name, `${name} does not exist in tau: ${reason}`) as UnavailableName;

// Reasons and substitutes, as in docs/embedding.md.
const TERMINAL = 'it draws on a terminal';
const PROGRAM = "it is part of pi's program; start `tau` instead";
const POWERSHELL = 'tau runs commands in bash';
const BUILT_IN = 'it is an extension of pi itself; tau has its own MCP client';
const INTERNAL = 'it belongs to a part of pi that tau lacks';

export const ArminComponent = absent('ArminComponent', TERMINAL);
export const AssistantMessageComponent = absent('AssistantMessageComponent', TERMINAL);
export const BashExecutionComponent = absent('BashExecutionComponent', TERMINAL);
export const BorderedLoader = absent('BorderedLoader', TERMINAL);
export const BranchSummaryMessageComponent = absent('BranchSummaryMessageComponent', TERMINAL);
export const CompactionSummaryMessageComponent = absent('CompactionSummaryMessageComponent', TERMINAL);
export const CredentialSynchronizationError = absent('CredentialSynchronizationError', INTERNAL);
export const CustomEditor = absent('CustomEditor', TERMINAL);
export const CustomMessageComponent = absent('CustomMessageComponent', TERMINAL);
export const DefaultPackageManager = absent(
  'DefaultPackageManager',
  'packages are installed by npm; see docs/extensions.md',
);
export const DynamicBorder = absent('DynamicBorder', TERMINAL);
export const ExtensionEditorComponent = absent('ExtensionEditorComponent', TERMINAL);
export const ExtensionInputComponent = absent('ExtensionInputComponent', TERMINAL);
export const ExtensionSelectorComponent = absent('ExtensionSelectorComponent', TERMINAL);
export const FooterComponent = absent('FooterComponent', TERMINAL);
export const InteractiveMode = absent('InteractiveMode', TERMINAL);
export const LoginDialogComponent = absent('LoginDialogComponent', TERMINAL);
export const ModelSelectorComponent = absent('ModelSelectorComponent', TERMINAL);
export const OAuthSelectorComponent = absent('OAuthSelectorComponent', TERMINAL);
export const RpcClient = absent('RpcClient', 'use `spawnAgent` of tau-agent/client/node');
export const SessionSelectorComponent = absent('SessionSelectorComponent', TERMINAL);
export const SettingsSelectorComponent = absent('SettingsSelectorComponent', TERMINAL);
export const ShowImagesSelectorComponent = absent('ShowImagesSelectorComponent', TERMINAL);
export const SkillInvocationMessageComponent = absent('SkillInvocationMessageComponent', TERMINAL);
export const ThemeSelectorComponent = absent('ThemeSelectorComponent', TERMINAL);
export const ThinkingSelectorComponent = absent('ThinkingSelectorComponent', TERMINAL);
export const ToolExecutionComponent = absent('ToolExecutionComponent', TERMINAL);
export const TreeSelectorComponent = absent('TreeSelectorComponent', TERMINAL);
export const UserMessageComponent = absent('UserMessageComponent', TERMINAL);
export const UserMessageSelectorComponent = absent('UserMessageSelectorComponent', TERMINAL);
export const copyToClipboard = absent('copyToClipboard', TERMINAL);
export const createCodemodeExtension = absent('createCodemodeExtension', BUILT_IN);
export const createLocalPowerShellOperations = absent('createLocalPowerShellOperations', POWERSHELL);
export const createMcpExtension = absent('createMcpExtension', BUILT_IN);
export const createPowerShellTool = absent('createPowerShellTool', POWERSHELL);
export const createPowerShellToolDefinition = absent('createPowerShellToolDefinition', POWERSHELL);
export const createToolSearchExtension = absent('createToolSearchExtension', BUILT_IN);
export const formatReadLineRange = absent('formatReadLineRange', TERMINAL);
export const getLanguageFromPath = absent('getLanguageFromPath', TERMINAL);
export const getMarkdownTheme = absent('getMarkdownTheme', TERMINAL);
export const getPowerShellConfig = absent('getPowerShellConfig', POWERSHELL);
export const getSelectListTheme = absent('getSelectListTheme', TERMINAL);
export const getSettingsListTheme = absent('getSettingsListTheme', TERMINAL);
export const main = absent('main', PROGRAM);
export const parseArgs = absent('parseArgs', PROGRAM);
export const renderDiff = absent('renderDiff', TERMINAL);
export const runPrintMode = absent('runPrintMode', PROGRAM);
export const runRpcMode = absent('runRpcMode', PROGRAM);
export const truncateToVisualLines = absent('truncateToVisualLines', TERMINAL);
export const wrapRegisteredTool = absent('wrapRegisteredTool', INTERNAL);
export const wrapRegisteredTools = absent('wrapRegisteredTools', INTERNAL);
