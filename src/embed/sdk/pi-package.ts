import * as frontmatter from '../../extend/extensions/pi-shims/coding-agent/frontmatter.ts';
import { summaryFunctions } from '../../extend/extensions/pi-shims/coding-agent/summaries.ts';
import { unavailable } from '../../extend/extensions/pi-shims/missing-names.ts';
import { piFunctions } from '../../extend/extensions/pi-shims/pi-coding-agent.ts';
import { agentDir } from '../../store/agent-dir.ts';
import { newUuid } from '../../store/sessions/random-id.ts';

export { generateDiffString, generateUnifiedPatch } from '../../extend/extensions/pi-shims/coding-agent/diffs.ts';
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
  stripFrontmatter,
  truncateHead,
  truncateLine,
  truncateTail,
  VIRTUAL_MODEL_STATE_ENTRY,
  withFileMutationQueue,
} = piFunctions(environment);

export const { compact, generateBranchSummary, generateSummary, generateSummaryWithUsage } = summaryFunctions(
  () => environment,
);

export const { parseFrontmatter } = frontmatter;

/** A name of pi that can be imported and extended; to call or construct it throws an error with its name. */
export type UnavailableName = (new (...args: unknown[]) => object) & ((...args: unknown[]) => never);

const absent = (name: string) => unavailable(name) as UnavailableName;

export const ArminComponent = absent('ArminComponent');
export const AssistantMessageComponent = absent('AssistantMessageComponent');
export const BashExecutionComponent = absent('BashExecutionComponent');
export const BorderedLoader = absent('BorderedLoader');
export const BranchSummaryMessageComponent = absent('BranchSummaryMessageComponent');
export const CompactionSummaryMessageComponent = absent('CompactionSummaryMessageComponent');
export const CredentialSynchronizationError = absent('CredentialSynchronizationError');
export const CustomEditor = absent('CustomEditor');
export const CustomMessageComponent = absent('CustomMessageComponent');
export const DefaultPackageManager = absent('DefaultPackageManager');
export const DynamicBorder = absent('DynamicBorder');
export const ExtensionEditorComponent = absent('ExtensionEditorComponent');
export const ExtensionInputComponent = absent('ExtensionInputComponent');
export const ExtensionSelectorComponent = absent('ExtensionSelectorComponent');
export const FooterComponent = absent('FooterComponent');
export const InteractiveMode = absent('InteractiveMode');
export const LoginDialogComponent = absent('LoginDialogComponent');
export const ModelSelectorComponent = absent('ModelSelectorComponent');
export const OAuthSelectorComponent = absent('OAuthSelectorComponent');
export const RpcClient = absent('RpcClient');
export const SessionSelectorComponent = absent('SessionSelectorComponent');
export const SettingsSelectorComponent = absent('SettingsSelectorComponent');
export const ShowImagesSelectorComponent = absent('ShowImagesSelectorComponent');
export const SkillInvocationMessageComponent = absent('SkillInvocationMessageComponent');
export const ThemeSelectorComponent = absent('ThemeSelectorComponent');
export const ThinkingSelectorComponent = absent('ThinkingSelectorComponent');
export const ToolExecutionComponent = absent('ToolExecutionComponent');
export const TreeSelectorComponent = absent('TreeSelectorComponent');
export const UserMessageComponent = absent('UserMessageComponent');
export const UserMessageSelectorComponent = absent('UserMessageSelectorComponent');
export const copyToClipboard = absent('copyToClipboard');
export const createCodemodeExtension = absent('createCodemodeExtension');
export const createLocalPowerShellOperations = absent('createLocalPowerShellOperations');
export const createMcpExtension = absent('createMcpExtension');
export const createPowerShellTool = absent('createPowerShellTool');
export const createPowerShellToolDefinition = absent('createPowerShellToolDefinition');
export const createToolSearchExtension = absent('createToolSearchExtension');
export const formatReadLineRange = absent('formatReadLineRange');
export const getLanguageFromPath = absent('getLanguageFromPath');
export const getMarkdownTheme = absent('getMarkdownTheme');
export const getPowerShellConfig = absent('getPowerShellConfig');
export const getSelectListTheme = absent('getSelectListTheme');
export const getSettingsListTheme = absent('getSettingsListTheme');
export const main = absent('main');
export const parseArgs = absent('parseArgs');
export const renderDiff = absent('renderDiff');
export const runPrintMode = absent('runPrintMode');
export const runRpcMode = absent('runRpcMode');
export const truncateToVisualLines = absent('truncateToVisualLines');
export const wrapRegisteredTool = absent('wrapRegisteredTool');
export const wrapRegisteredTools = absent('wrapRegisteredTools');
