import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin, Module } from 'node:module';
import { dirname, extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { importAs } from '../../../model/providers/ai-sdk/load-package.ts';
import type { StandIns } from '../stand-ins/stand-ins.ts';
import { type Mode, PARAMETERS } from './compile.ts';
import type { CompiledFiles } from './compiled-files.ts';
import { asModule } from './namespace.ts';
import { isPath, resolvePackage, resolvePath } from './resolve-module.ts';

/** A module that runs or has run. */
interface Running {
  readonly path: string;
  readonly text: string;
  readonly module: Module;
  /** Pending until it has run to its end. */
  done: Promise<void> | undefined;
  /** What it has imported and does not have yet. */
  readonly waitsFor: Set<Running>;
}

/**
 * The modules of one extension: its own files, which are compiled, with what they import.
 *
 * Each load of an extension has a graph of its own, so that a reload sees what was changed. Packages are Node's
 * business and stay as they were first loaded; only where Node cannot load one, its files are compiled too.
 */
export class ModuleGraph {
  readonly #compiled: CompiledFiles;
  readonly #standIns: StandIns;
  readonly #modules = new Map<string, Running>();

  constructor(compiled: CompiledFiles, standIns: StandIns) {
    this.#compiled = compiled;
    this.#standIns = standIns;
  }

  /** What a file exports, once it and all that it imports have run. */
  async import(path: string): Promise<unknown> {
    return this.#importFile(resolvePath(path, path), undefined);
  }

  async #import(specifier: string, from: Running): Promise<unknown> {
    if (isPath(specifier)) return this.#importFile(resolvePath(specifier, from.path), from);
    if (isBuiltin(specifier)) return process.getBuiltinModule(specifier);
    return (await this.#standIns.load(specifier, from.text)) ?? this.#importPackage(specifier, from);
  }

  async #importPackage(name: string, from: Running): Promise<unknown> {
    try {
      return asModule(await importAs(from.path, name));
    } catch (error) {
      const path = isBeyondNode(error) ? resolvePackage(name, from.path) : undefined;
      if (path === undefined) throw error;
      return this.#importFile(path, from);
    }
  }

  async #importFile(path: string, from: Running | undefined): Promise<unknown> {
    const native = this.#data(path);
    if (native) return native.exports;
    const running = this.#modules.get(path) ?? this.#start(path);
    // In a ring of imports somebody has to make do with what is there so far.
    if (running.done && !(from && isWaitingFor(running, from))) {
      from?.waitsFor.add(running);
      await running.done.finally(() => from?.waitsFor.delete(running));
    }
    return running.module.exports;
  }

  #require(specifier: string, from: Running): unknown {
    if (isBuiltin(specifier)) return process.getBuiltinModule(specifier);
    if (isPath(specifier)) return this.#requireFile(resolvePath(specifier, from.path));
    const standIn = this.#standIns.loaded(specifier);
    if (standIn) return standIn;
    try {
      return createRequire(from.path)(specifier);
    } catch (error) {
      const path = isBeyondNode(error) ? resolvePackage(specifier, from.path) : undefined;
      if (path === undefined) throw error;
      return this.#requireFile(path);
    }
  }

  #requireFile(path: string): unknown {
    const native = this.#data(path);
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

  /** What a file holds that is no source code. */
  #data(path: string): { exports: unknown } | undefined {
    if (extname(path) === '.json') return { exports: JSON.parse(readFileSync(path, 'utf8')) };
    if (extname(path) === '.node') return { exports: createRequire(path)(path) };
    return undefined;
  }

  #start(path: string): Running {
    const running = this.#add(path);
    const done = this.#runAfterStandIns(running);
    running.done = done;
    // Whoever imports it hears of its failure.
    done.then(() => (running.done = undefined)).catch(() => {});
    return running;
  }

  async #runAfterStandIns(running: Running): Promise<void> {
    // What is required must be there at once.
    if (/\brequire\s*\(/.test(running.text)) await this.#standIns.loadAll();
    await this.#run(running, 'import');
  }

  #add(path: string): Running {
    const module = new Module(path);
    module.filename = path;
    const text = readFileSync(path, 'utf8');
    const running: Running = { path, text, module, done: undefined, waitsFor: new Set() };
    this.#modules.set(path, running);
    return running;
  }

  #run(running: Running, mode: Mode): unknown {
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

/** Whether one cannot go on before the other does. */
function isWaitingFor(one: Running, other: Running): boolean {
  return one === other || [...one.waitsFor].some((next) => isWaitingFor(next, other));
}

const BEYOND_NODE = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
  'ERR_REQUIRE_ESM',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
]);

/** A package may be written in TypeScript, or import what only tau has. */
const isBeyondNode = (error: unknown): boolean =>
  error instanceof SyntaxError || BEYOND_NODE.has((error as NodeJS.ErrnoException | null)?.code ?? '');
