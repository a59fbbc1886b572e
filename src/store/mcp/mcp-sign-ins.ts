import { join } from 'node:path';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { changeJsonFile } from '../change-json-file.ts';
import { readJsonObject } from '../json-file.ts';

/** The stored sign-in of one MCP server. The parts have the shapes of OAuth. */
export interface McpSignIn {
  /** The client as it is registered at the authorization server. */
  readonly client?: JsonObject;
  readonly tokens?: JsonObject;
  /** The authorization server that issued the tokens. */
  readonly discovery?: JsonObject;
  readonly resource?: string;
  readonly redirectUrl?: string;
  /** When the access token ends, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

// Not pi's `mcp-auth.json`: pi moves entries with keys like these to keys of its own.
const FILE = 'tau-mcp-auth.json';

// The holder of the lock may wait for an authorization server.
const SIGN_IN_LOCK_TIMEOUT_MS = 60_000;

/** Sign-ins belong to an address, so that a changed entry never sends a token elsewhere. */
const keyOf = (url: string) => {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
};

/** The stored sign-in for the server at this address. Throws if the file is malformed. */
export function readMcpSignIn(agentDir: string, url: string): McpSignIn | undefined {
  const stored = readJsonObject(join(agentDir, FILE))?.[keyOf(url)];
  return isObject(stored) ? (stored as McpSignIn) : undefined;
}

/**
 * Changes one sign-in; undefined removes it. Processes take turns, and only the user can read the file. A change that
 * returns its argument writes nothing.
 */
export async function changeMcpSignIn(
  agentDir: string,
  url: string,
  change: (before: McpSignIn | undefined) => Promise<McpSignIn | undefined>,
): Promise<void> {
  const key = keyOf(url);
  await changeJsonFile(
    join(agentDir, FILE),
    async (all) => {
      const { [key]: before, ...others } = all;
      const after = await change(isObject(before) ? (before as McpSignIn) : undefined);
      if (after === before) return all;
      return after === undefined ? others : { ...others, [key]: after as JsonObject };
    },
    { mode: 0o600, name: FILE, lockTimeoutMs: SIGN_IN_LOCK_TIMEOUT_MS },
  );
}
