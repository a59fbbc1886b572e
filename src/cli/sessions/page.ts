import { Refusal } from '../../protocol/errors.ts';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { lastMessages } from '../../store/sessions/entry-reader.ts';
import { summaryAt } from '../../store/sessions/listing/list-sessions.ts';
import { terminalText } from '../../system/terminal-text.ts';
import { ageOf } from './table.ts';

// The number of last messages, and the characters of each.
const SHOWN_MESSAGES = 6;
const SHOWN_CHARACTERS = 200;

/** Formats the summary and the last messages of a session for `tau sessions show`. */
export async function sessionPage(path: string): Promise<string> {
  const summary = await summaryAt(path);
  if (!summary) throw new Refusal('not_a_session', `Not a session file: ${path}`);
  const { id, name, cwd, messageCount, lastModified, tokens, cost } = summary;
  const facts = [
    ['id', id],
    ['name', name],
    ['file', path],
    ['folder', cwd],
    ['last used', `${lastModified} (${ageOf(lastModified)})`],
    ['messages', `${messageCount}`],
    ['tokens', tokens === undefined ? undefined : `${tokens}`],
    ['cost', cost === undefined ? undefined : `$${cost.toFixed(4)}`],
  ];
  const lines = facts.flatMap(([label = '', fact]) =>
    fact === undefined ? [] : [`${label.padEnd(10)}${oneLine(fact)}`],
  );
  const messages = lastMessages(path, SHOWN_MESSAGES).map(shortForm);
  return [...lines, ...(messages.length > 0 ? ['', ...messages] : []), ''].join('\n');
}

function shortForm(message: AgentMessage): string {
  const text = oneLine(textOf(message));
  const short = text.length > SHOWN_CHARACTERS ? `${[...text].slice(0, SHOWN_CHARACTERS - 1).join('')}…` : text;
  return `${marks[message.role] ?? `${message.role}:`} ${short}`;
}

const marks: Partial<Record<AgentMessage['role'], string>> = { user: '›', assistant: ' ', toolResult: '  ▸' };

function textOf(message: AgentMessage): string {
  if ('summary' in message) return message.summary;
  if ('command' in message) return message.command;
  if (typeof message.content === 'string') return message.content;
  return message.content
    .map((block) => {
      if (block.type === 'text') return block.text;
      return block.type === 'toolCall' ? `▸ ${block.name}` : '';
    })
    .join(' ');
}

const oneLine = (text: string) => terminalText(text.replaceAll(/\s+/g, ' ')).trim();
