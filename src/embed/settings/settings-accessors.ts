import type { QueueMode, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import type { PackageSetting } from '../../store/settings.ts';

// A setting: its key, with dots between groups, and its value where no file has one.
interface Setting<T> {
  readonly key: string;
  readonly fallback: T;
}

const setting = <T>(key: string, fallback: T): Setting<T> => ({ key, fallback });
const optional = <T>(key: string): Setting<T | undefined> => ({ key, fallback: undefined });

// The settings with a getter and a setter of the same shape, by the name that pi's methods have.
const settings = {
  LastChangelogVersion: optional<string>('lastChangelogVersion'),
  DefaultProvider: optional<string>('defaultProvider'),
  DefaultModel: optional<string>('defaultModel'),
  DefaultThinkingLevel: optional<ThinkingLevel>('defaultThinkingLevel'),
  SteeringMode: setting<QueueMode>('steeringMode', 'one-at-a-time'),
  FollowUpMode: setting<QueueMode>('followUpMode', 'one-at-a-time'),
  Theme: optional<string>('theme'),
  Transport: setting('transport', 'auto'),
  SessionShareDestination: setting('sessionShareDestination', 'auto'),
  CompactionEnabled: setting('compaction.enabled', true),
  RetryEnabled: setting('retry.enabled', true),
  HttpIdleTimeoutMs: setting('httpIdleTimeoutMs', 300_000),
  CacheWarmingMode: setting('cacheWarming', 'off'),
  HideThinkingBlock: setting('hideThinkingBlock', false),
  ShowCacheMissNotices: setting('showCacheMissNotices', false),
  ShellPath: optional<string>('shellPath'),
  QuietStartup: setting<boolean | string>('quietStartup', false),
  DefaultProjectTrust: setting<'ask' | 'always' | 'never'>('defaultProjectTrust', 'ask'),
  ShellCommandPrefix: optional<string>('shellCommandPrefix'),
  NpmCommand: optional<string[]>('npmCommand'),
  CollapseChangelog: setting('collapseChangelog', false),
  EnableInstallTelemetry: setting('enableInstallTelemetry', false),
  EnableAnalytics: setting('enableAnalytics', false),
  Packages: setting<PackageSetting[]>('packages', []),
  ExtensionPaths: setting<string[]>('extensions', []),
  SkillPaths: setting<string[]>('skills', []),
  PromptTemplatePaths: setting<string[]>('prompts', []),
  ThemePaths: setting<string[]>('themes', []),
  EnableSkillCommands: setting('enableSkillCommands', true),
  ShowImages: setting('terminal.showImages', true),
  ImageWidthCells: setting('terminal.imageWidthCells', 60),
  ClearOnShrink: setting('terminal.clearOnShrink', false),
  ShowTerminalProgress: setting('terminal.showTerminalProgress', false),
  TuiMode: setting('tuiMode', 'fullscreen'),
  FullscreenExitOutput: setting('fullscreenExitOutput', 'transcript'),
  FullscreenScrollbar: setting('fullscreenScrollbar', 'auto'),
  FullscreenCopyOnSelect: setting('fullscreenCopyOnSelect', true),
  FullscreenWheelScrollLines: setting<number | string>('fullscreenWheelScrollLines', 'auto'),
  ImageAutoResize: setting('images.autoResize', true),
  BlockImages: setting('images.blockImages', false),
  EnabledModels: optional<string[]>('enabledModels'),
  DoubleEscapeAction: setting('doubleEscapeAction', 'tree'),
  TreeFilterMode: setting('treeFilterMode', 'default'),
  ShowHardwareCursor: setting('showHardwareCursor', false),
  EditorPaddingX: setting('editorPaddingX', 0),
  OutputPad: setting('outputPad', 1),
  AutocompleteMaxVisible: setting('autocompleteMaxVisible', 5),
  MermaidRenderingMode: setting('markdown.mermaid', 'streaming'),
  Warnings: setting<Record<string, unknown>>('warnings', {}),
};

// Lists that a project may also hold: `setProjectPackages` and others.
const projectLists = ['Packages', 'ExtensionPaths', 'SkillPaths', 'PromptTemplatePaths', 'ThemePaths'] as const;

type Settings = typeof settings;
type ValueOf<N extends keyof Settings> = Settings[N]['fallback'];
type Getters = { [N in keyof Settings as `get${N}`]: () => ValueOf<N> };
type Setters = { [N in keyof Settings as `set${N}`]: (value: ValueOf<N>) => void };
type ProjectSetters = { [N in (typeof projectLists)[number] as `setProject${N}`]: (value: ValueOf<N>) => void };

/** The file that a setting is written to. */
export type SettingsScope = 'global' | 'project';

/** Reads and writes settings by key. */
export abstract class SettingsStore {
  /** The effective value. */
  abstract read(key: string): unknown;
  /** Undefined removes the setting. */
  abstract write(scope: SettingsScope, key: string, value: unknown): void;
}

/** A store with pi's getters and setters. */
export const SettingsAccessors = SettingsStore as abstract new () => SettingsStore & Getters & Setters & ProjectSetters;

for (const [name, { key, fallback }] of Object.entries(settings)) {
  define(`get${name}`, function () {
    return this.read(key) ?? structuredClone(fallback);
  });
  define(`set${name}`, function (value) {
    this.write('global', key, value);
  });
}

for (const name of projectLists) {
  define(`setProject${name}`, function (value) {
    this.write('project', settings[name].key, value);
  });
}

function define(name: string, value: (this: SettingsStore, value: unknown) => unknown): void {
  Object.defineProperty(SettingsStore.prototype, name, { value, configurable: true, writable: true });
}
