import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin, Module } from 'node:module';
import { dirname, extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { importAs } from '../../../model/providers/ai-sdk/load-package.ts';
import type { PiShims } from '../pi-shims/pi-shims.ts';
import { type ModuleMode, PARAMETERS } from './compile.ts';
import type { CompiledFiles } from './compiled-files.ts';
import { isPath, resolvePackage, resolvePath } from './resolve-module.ts';

// A module that runs or has run.
interface RunningModule {
  readonly path: string;
  readonly text: string;
  readonly module: Module;
  // Pending until the module has run to its end.
  done: Promise<void> | undefined;
  readonly pendingImports: Set<RunningModule>;
}

/**
 * The compiled modules of one load of an extension, so that a reload sees changes.
 *
 * Node loads packages, and keeps them; only a package that Node cannot load is compiled.
 */
export class ModuleGraph {
  readonly #compiled: CompiledFiles;
  readonly #shims: PiShims;
  readonly #modules = new Map<string, RunningModule>();

  constructor(compiled: CompiledFiles, shims: PiShims) {
    this.#compiled = compiled;
    this.#shims = shims;
  }

  /** The exports of a file, once it and its imports have run. */
  async import(path: string): Promise<unknown> {
    return this.#importFile(resolvePath(path, path), undefined);
  }

  async #import(specifier: string, from: RunningModule): Promise<unknown> {
    if (isPath(specifier)) return this.#importFile(resolvePath(specifier, from.path), from);
    if (isBuiltin(specifier)) return process.getBuiltinModule(specifier);
    return (await this.#shims.load(specifier, from.text)) ?? this.#importPackage(specifier, from);
  }

  async #importPackage(name: string, from: RunningModule): Promise<unknown> {
    try {
      return wrapNamespace(await importAs(from.path, name));
    } catch (error) {
      const path = needsCompiling(error) ? resolvePackage(name, from.path) : undefined;
      if (path === undefined) throw error;
      return this.#importFile(path, from);
    }
  }

  async #importFile(path: string, from: RunningModule | undefined): Promise<unknown> {
    const native = this.#loadNative(path);
    if (native) return native.exports;
    const running = this.#modules.get(path) ?? this.#start(path);
    // In an import ring, one module gets the exports that exist so far.
    if (running.done && !(from && isWaitingFor(running, from))) {
      from?.pendingImports.add(running);
      await running.done.finally(() => from?.pendingImports.delete(running));
    }
    return running.module.exports;
  }

  #require(specifier: string, from: RunningModule): unknown {
    if (isBuiltin(specifier)) return process.getBuiltinModule(specifier);
    if (isPath(specifier)) return this.#requireFile(resolvePath(specifier, from.path));
    const shim = this.#shims.loaded(specifier);
    if (shim) return shim;
    try {
      return createRequire(from.path)(specifier);
    } catch (error) {
      const path = needsCompiling(error) ? resolvePackage(specifier, from.path) : undefined;
      if (path === undefined) throw error;
      return this.#requireFile(path);
    }
  }

  #requireFile(path: string): unknown {
    const native = this.#loadNative(path);
    if (native) return native.exports;
    const known = this.#modules.get(path);
    if (known) return known.module.exports;
    const running = this.#add(path);
    try {
      this.#run(running, 'require');
    } catch (error) {
      this.#modules.delete(path);
      throw error;
    }
    return running.module.exports;
  }

  /** JSON and native addons are not compiled. */
  #loadNative(path: string): { exports: unknown } | undefined {
    if (extname(path) === '.json') return { exports: JSON.parse(readFileSync(path, 'utf8')) };
    if (extname(path) === '.node') return { exports: createRequire(path)(path) };
    return undefined;
  }

  #start(path: string): RunningModule {
    const running = this.#add(path);
    const done = this.#runAfterShims(running);
    running.done = done;
    // The importer handles the failure.
    done.then(() => (running.done = undefined)).catch(() => {});
    return running;
  }

  async #runAfterShims(running: RunningModule): Promise<void> {
    // `require` is synchronous, so all shims must be loaded before.
    if (/\brequire\s*\(/.test(running.text)) await this.#shims.loadAll();
    await this.#run(running, 'import');
  }

  #add(path: string): RunningModule {
    const module = new Module(path);
    module.filename = path;
    const text = readFileSync(path, 'utf8');
    const running: RunningModule = { path, text, module, done: undefined, pendingImports: new Set() };
    this.#modules.set(path, running);
    return running;
  }

  #run(running: RunningModule, mode: ModuleMode): unknown {
    const { path, text, module } = running;
    const code = this.#compiled.codeOf({ path, text }, mode);
    const kind = mode === 'import' ? 'async function' : 'function';
    const script = new Script(`(${kind} (${PARAMETERS}) {${code}\n})`, { filename: path });
    const resolve = (name: string) => (isPath(name) ? resolvePath(name, path) : createRequire(path).resolve(name));
    const require = Object.assign((name: string) => this.#require(name, running), {
      resolve,
      cache: {},
      main: undefined,
    });
    const resolveUrl = (name: string) => pathToFileURL(resolve(name)).href;
    return script.runInThisContext()(
      module.exports,
      require,
      module,
      path,
      dirname(path),
      (name: string) => this.#import(name, running),
      resolveUrl,
      { url: pathToFileURL(path).href, filename: path, dirname: dirname(path), resolve: resolveUrl },
    );
  }
}

// True if `one` cannot continue before `other` does.
function isWaitingFor(one: RunningModule, other: RunningModule): boolean {
  return one === other || [...one.pendingImports].some((next) => isWaitingFor(next, other));
}

const NEEDS_COMPILING = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
  'ERR_REQUIRE_ESM',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
]);

// The package may be written in TypeScript or import a pi package.
const needsCompiling = (error: unknown): boolean =>
  error instanceof SyntaxError || NEEDS_COMPILING.has((error as NodeJS.ErrnoException | null)?.code ?? '');

// Converts a namespace imported by Node to the form that compiled code expects.
function wrapNamespace(namespace: object): object {
  const exported = defaultExportOf(namespace);
  return new Proxy(namespace, {
    get(target, name) {
      if (name === '__esModule') return true;
      if (name === 'default') return exported;
      // Node does not detect every export of a CommonJS module.
      return name in target || name === 'then' ? Reflect.get(target, name) : (exported as Values | undefined)?.[name];
    },
  });
}

type Values = Readonly<Record<string | symbol, unknown>>;

// A transpiled ES module carries `__esModule`, and Node wraps its default export once more.
function defaultExportOf(namespace: object): unknown {
  const { default: exported, __esModule } = namespace as { default?: unknown; __esModule?: unknown };
  if (!('default' in namespace)) return namespace;
  const isWrapped = __esModule === true && typeof exported === 'object' && exported !== null && 'default' in exported;
  return isWrapped ? exported.default : exported;
}
