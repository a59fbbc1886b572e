import type { ExtensionEnvironment } from './extension-environment.ts';
import { withPlaceholders } from './missing-names.ts';

// A package that extensions import and tau provides.
interface PiShim {
  readonly load: (environment: ExtensionEnvironment) => Promise<object>;
  // Loaded in addition for code that contains this word.
  readonly onMention?: { readonly word: string; readonly load: () => Promise<object> };
  // If true, every other name is a placeholder.
  readonly acceptsAnyName: boolean;
}

const packages: Readonly<Record<string, PiShim>> = {
  'pi-coding-agent': {
    load: async (environment) => (await import('./pi-coding-agent.ts')).piCodingAgent(environment),
    // The YAML parser takes longer to load than everything else.
    onMention: { word: 'parseFrontmatter', load: () => import('./coding-agent/frontmatter.ts') },
    acceptsAnyName: true,
  },
  'pi-ai': { load: async (environment) => (await import('./pi-ai.ts')).piAi(environment), acceptsAnyName: true },
  'pi-agent-core': { load: async () => (await import('./pi-agent-core.ts')).piAgentCore(), acceptsAnyName: true },
  'pi-tui': { load: async () => (await import('./pi-tui.ts')).piTui(), acceptsAnyName: true },
  typebox: { load: () => import('./typebox.ts'), acceptsAnyName: false },
  'typebox/value': { load: () => import('./typebox-value.ts'), acceptsAnyName: false },
  'typebox/compile': { load: () => import('./typebox-compile.ts'), acceptsAnyName: false },
};

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
    await Promise.all(Object.entries(packages).map(([name, { onMention }]) => this.#load(name, onMention?.word ?? '')));
  }

  async #load(name: string, text: string): Promise<object | undefined> {
    const shim = packages[name];
    if (!shim) return undefined;
    const { load, onMention, acceptsAnyName } = shim;
    const extra = onMention && text.includes(onMention.word) ? await onMention.load() : {};
    const names = { ...(await load(this.#environment)), ...extra };
    const module = acceptsAnyName ? withPlaceholders(names) : { __esModule: true, ...names };
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
