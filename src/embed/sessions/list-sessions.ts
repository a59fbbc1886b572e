import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { agentDir, sessionsFolder } from '../../store/agent-dir.ts';
import { readHeader } from '../../store/sessions/header.ts';
import { SessionList } from '../../store/sessions/listing/list-sessions.ts';
import { StandaloneSession } from './standalone-session.ts';

/** A summary of a stored session. */
export interface SessionInfo {
  readonly path: string;
  readonly id: string;
  readonly cwd: string;
  readonly name?: string | undefined;
  /** The file of the session that this one was copied from. */
  readonly parentSessionPath?: string | undefined;
  /** Read from the file on first access. */
  readonly created: Date;
  readonly modified: Date;
  readonly messageCount: number;
  readonly firstMessage: string;
  /** Read from the file on first access. */
  readonly allMessagesText: string;
}

/** Called once, when all sessions are read. */
export type ListProgress = (loaded: number, total: number) => void;

interface ListSessionsOptions {
  /** Only sessions of this folder. */
  readonly cwd?: string | undefined;
  readonly sessionDir?: string | undefined;
  readonly onProgress?: ListProgress | undefined;
}

/** The stored sessions with at least one message, most recent first. */
export async function listSessions({ cwd, sessionDir, onProgress }: ListSessionsOptions): Promise<SessionInfo[]> {
  const root = sessionDir ?? sessionsFolder(agentDir(process.env));
  const { sessions } = await new SessionList(root).list({ cwd, extraFolder: sessionDir });
  onProgress?.(sessions.length, sessions.length);
  return sessions.map(({ path, id, cwd, name, parentSession, firstMessage, messageCount, lastModified }) => {
    let created: Date | undefined;
    let text: string | undefined;
    return {
      path,
      id,
      cwd,
      name,
      parentSessionPath: parentSession,
      firstMessage,
      messageCount,
      modified: new Date(lastModified),
      get created() {
        created ??= new Date(headerOf(path)?.timestamp || lastModified);
        return created;
      },
      get allMessagesText() {
        text ??= textOf(path);
        return text;
      },
    };
  });
}

/** The file of the session with this id in a folder. */
export function findSessionFile(directory: string, id: string): string | undefined {
  const names = listFolder(directory).filter((name) => name.endsWith('.jsonl'));
  const likely = names.filter((name) => name.endsWith(`_${id}.jsonl`));
  return [...likely, ...names].map((name) => join(directory, name)).find((path) => headerOf(path)?.id === id);
}

function listFolder(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function headerOf(path: string) {
  try {
    const fd = openSync(path, 'r');
    try {
      return readHeader(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

// The file may have been removed since it was listed.
function textOf(path: string): string {
  try {
    const texts = StandaloneSession.read(path)
      .entries()
      .flatMap((entry) => (entry.type === 'message' ? [messageText(entry.message)] : []));
    return texts.filter((text) => text !== '').join(' ');
  } catch {
    return '';
  }
}

function messageText(message: AgentMessage): string {
  if (!('content' in message)) return 'summary' in message ? message.summary : '';
  if (typeof message.content === 'string') return message.content;
  return message.content
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join(' ')
    .trim();
}
