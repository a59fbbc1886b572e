import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from './child.mjs';

const root = join(import.meta.dirname, '..', '..');

/**
 * A temporary folder with a home, a project and a copy of the built program, so that a build during the measurement
 * changes nothing.
 */
export class Workspace {
  #folder = mkdtempSync(join(tmpdir(), 'tau-bench-'));
  #children = new Set();

  constructor() {
    for (const name of ['home', 'agent', 'project']) mkdirSync(join(this.#folder, name));
    cpSync(join(root, 'dist'), join(this.#folder, 'dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(this.#folder, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
    // A session longer than any model's context must not be compacted during a measurement.
    writeFileSync(join(this.#folder, 'agent', 'settings.json'), '{"compaction":{"enabled":false}}\n');
  }

  get environment() {
    const { PATH } = process.env;
    return { PATH, HOME: this.path('home'), PI_CODING_AGENT_DIR: this.path('agent') };
  }

  path(name) {
    return join(this.#folder, name);
  }

  /** Creates a folder and returns its path. */
  folder(name) {
    mkdirSync(this.path(name), { recursive: true });
    return this.path(name);
  }

  /** Writes a file and returns its path. */
  file(name, text) {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  /**
   * Calls `use` with an agent. `args` follow `--mode rpc`; `stdin` may be an open file, `node` another Node, `env`
   * further variables.
   */
  agent(args, use, { stdin, node, env } = {}) {
    return this.#use([this.path('dist/tau.cjs'), '--mode', 'rpc', ...args], { stdin, node, env, use });
  }

  /** Calls `use` with another Node program, which makes no requests of its own. */
  program(path, args, { use, node, env }) {
    return this.#use([path, ...args], { use, node, env: { PI_OFFLINE: '1', ...env } });
  }

  /** Calls `use` with a plain Node process that runs this code. */
  node(code, use) {
    return this.#use(['-e', code], { use });
  }

  close() {
    for (const child of this.#children) child.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #use(args, { stdin, node, env: more, use }) {
    const env = { ...this.environment, ...more };
    const child = new Child(args, { cwd: this.path('project'), env, stdin, node });
    this.#children.add(child);
    try {
      const sample = await use(child);
      await child.end();
      return sample;
    } finally {
      child.kill();
      this.#children.delete(child);
    }
  }
}
