import type { ExtensionEnvironment } from './extension-environment.ts';
import { placeholder, unavailable, withPlaceholders } from './missing-names.ts';

// A package that extensions import and tau provides.
interface PiShim {
  readonly load: (environment: ExtensionEnvironment) => Promise<object>;
  // Each is loaded in addition for code that contains one of its words.
  readonly onMention?: readonly Mention[];
  // Every other name: a placeholder that does nothing, one that throws when it is called, or none.
  readonly otherNames: 'ignored' | 'refused' | 'absent';
}

interface Mention {
  readonly words: readonly string[];
  readonly load: (environment: ExtensionEnvironment) => Promise<object>;
}

// Code that contains one of these words may use pi's SDK, which loads the engine for agents of its own.
const SDK_WORDS = [
  'AgentSession',
  'AuthStorage',
  'ExtensionRunner',
  'ExtensionRuntime',
  'ModelRegistry',
  'ModelRuntime',
  'ResourceLoader',
  'SessionManager',
  'SettingsManager',
  'discoverAndLoadExtensions',
  'resolveCliModel',
  'resolveModelScope',
];

async function loadSummaries(environment: ExtensionEnvironment): Promise<object> {
  const { summaryFunctions, ...summaries } = await import('./coding-agent/summaries.ts');
  return { ...summaries, ...summaryFunctions(() => environment) };
}

const packages: Readonly<Record<string, PiShim>> = {
  'pi-coding-agent': {
    load: async (environment) => (await import('./pi-coding-agent.ts')).piCodingAgent(environment),
    // The YAML parser takes longer to load than everything else.
    onMention: [
      { words: ['Frontmatter'], load: () => import('./coding-agent/frontmatter.ts') },
      { words: ['Skill', 'loadProjectContextFiles'], load: () => import('./coding-agent/skills.ts') },
      { words: ['compact', 'Summary', 'findCutPoint', 'findTurnStart', 'BranchEntries'], load: loadSummaries },
      { words: ['generateUnifiedPatch', 'generateDiffString'], load: () => import('./coding-agent/diffs.ts') },
      { words: SDK_WORDS, load: async ({ sdk }) => (await sdk?.()) ?? {} },
    ],
    otherNames: 'refused',
  },
  'pi-ai': { load: async (environment) => (await import('./pi-ai.ts')).piAi(environment), otherNames: 'refused' },
  'pi-agent-core': { load: async () => (await import('./pi-agent-core.ts')).piAgentCore(), otherNames: 'refused' },
  'pi-tui': { load: async () => (await import('./pi-tui.ts')).piTui(), otherNames: 'ignored' },
  typebox: { load: () => import('./typebox.ts'), otherNames: 'absent' },
  'typebox/value': { load: () => import('./typebox-value.ts'), otherNames: 'absent' },
  'typebox/compile': { load: () => import('./typebox-compile.ts'), otherNames: 'absent' },
};

const makers = { ignored: placeholder, refused: unavailable };

/** Provides the packages of pi and typebox to extensions, as far as they work without a screen. */
export class PiShims {
  readonly #environment: ExtensionEnvironment;
  readonly #loaded = new Map<string, object>();

  constructor(environment: ExtensionEnvironment) {
    this.#environment = environment;
  }

  /** The module for an import in code with this text; undefined if tau does not provide it. */
  async load(specifier: string, text: string): Promise<object | undefined> {
    const name = packageOf(specifier);
    return name === undefined ? undefined : this.#load(name, text);
  }

  /** Like `load`, but synchronous, for modules that `loadAll` has loaded. */
  loaded(specifier: string): object | undefined {
    const name = packageOf(specifier);
    return name === undefined ? undefined : this.#loaded.get(name);
  }

  async loadAll(): Promise<void> {
    await Promise.all(
      Object.entries(packages).map(([name, { onMention = [] }]) =>
        this.#load(name, onMention.flatMap(({ words }) => words).join(' ')),
      ),
    );
  }

  async #load(name: string, text: string): Promise<object | undefined> {
    const shim = packages[name];
    if (!shim) return undefined;
    const { load, onMention = [], otherNames } = shim;
    const mentioned = onMention.filter(({ words }) => words.some((word) => text.includes(word)));
    const extra = await Promise.all(mentioned.map((mention) => mention.load(this.#environment)));
    const names = Object.assign({}, await load(this.#environment), ...extra);
    const module =
      otherNames === 'absent' ? { __esModule: true, ...names } : withPlaceholders(names, makers[otherNames]);
    this.#loaded.set(name, module);
    return module;
  }
}

// Maps both scopes of pi's packages, subpaths and both names of typebox.
function packageOf(specifier: string): string | undefined {
  const pi = /^@(?:mariozechner|earendil-works)\/(pi-(?:coding-agent|ai|agent-core|tui))(?:\/|$)/.exec(specifier)?.[1];
  if (pi !== undefined) return pi;
  const typebox = /^(?:@sinclair\/)?typebox(?:\/(\w+))?$/.exec(specifier);
  if (!typebox) return undefined;
  const part = typebox[1]?.replace(/^compiler$/, 'compile');
  const name = part === undefined ? 'typebox' : `typebox/${part}`;
  return Object.hasOwn(packages, name) ? name : undefined;
}
