import { join } from 'node:path';

const SERVER = join(import.meta.dirname, '../../fixtures/mcp/asking-server.mjs');

/** Behaviour of the fixture server that sends requests; see test/fixtures/mcp/asking-server.mjs. */
export interface AskingBehaviour {
  /** Put before every line. */
  mark?: string;
  notes?: string;
  capabilities?: object;
  instructions?: string;
  tools?: readonly (string | object)[];
  /** The form of the tool `elicit`, and the page of `visit`. */
  form?: object;
  url?: string;
  /** Parameters of the tool `sample`. */
  sampling?: object;
  /** The length of the message of the tool `sample`. */
  length?: number;
  /** How many requests the tools `flood` and `loop` send. */
  count?: number;
  /** The error of the tool `refuse`. */
  error?: { code: number; message: string };
  /** The result of the tool `resource`. */
  resource?: object;
  /** How often a task is still at work. */
  polls?: number;
  prompts?: readonly object[];
  /** Contents by URI. */
  resources?: Record<string, object>;
  /** Refuses the revisions before 2026-07-28. */
  onlyModern?: boolean;
}

/** The fixture server as an entry of mcp.json. */
export const askingServer = (behaviour: AskingBehaviour = {}, more: object = {}) => ({
  command: process.execPath,
  args: [SERVER, JSON.stringify(behaviour)],
  ...more,
});
