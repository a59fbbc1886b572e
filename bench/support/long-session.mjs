import { closeSync, openSync, writeSync } from 'node:fs';

const AT = '2026-11-15T06:29:21.770Z';
const BLOCK = 1000;

/** The header of a session file. */
export const header = (cwd) => `${JSON.stringify({ type: 'session', version: 3, id: 'bench', timestamp: AT, cwd })}\n`;

/** Writes a session of this many messages: prompt, tool call, result and text in turn, 760 bytes each. */
export function writeLongSession(path, { cwd, messages }) {
  const fd = openSync(path, 'w');
  writeSync(fd, header(cwd));
  for (let from = 0; from < messages; from += BLOCK) {
    let block = '';
    for (let n = from; n < Math.min(messages, from + BLOCK); n++) block += line(n);
    writeSync(fd, block);
  }
  closeSync(fd);
}

function line(n) {
  const parentId = n === 0 ? null : idOf(n - 1);
  return `${JSON.stringify({ type: 'message', id: idOf(n), parentId, timestamp: AT, message: messageAt(n) })}\n`;
}

/** Eight hex digits that look random and never repeat: every mixing step is invertible. */
function idOf(n) {
  let bits = n + 1;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0).toString(16).padStart(8, '0');
}

function messageAt(n) {
  const timestamp = 1794731994206 + n;
  const callId = `call_${n >> 2}`;
  switch (n % 4) {
    case 0:
      return { role: 'user', content: [text(`Look at file ${n} and tell me `, 600)], timestamp };
    case 1:
      return assistant(
        { type: 'toolCall', id: callId, name: 'read', arguments: { path: words('src/', 270) } },
        'toolUse',
      );
    case 2:
      return {
        role: 'toolResult',
        toolCallId: callId,
        toolName: 'read',
        content: [text('1: ', 530)],
        isError: false,
        timestamp,
      };
    default:
      return assistant(text('It says ', 310), 'stop');
  }
}

const assistant = (block, stopReason) => ({
  role: 'assistant',
  content: [block],
  api: 'tau-scripted',
  provider: 'tau',
  model: 'scripted',
  usage: { input: 1200, output: 60, cacheRead: 0, cacheWrite: 0, totalTokens: 1260, cost: FREE },
  stopReason,
  timestamp: 1794731994206,
});

const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

const text = (beginning, length) => ({ type: 'text', text: words(beginning, length) });

const words = (beginning, length) => beginning.padEnd(length, 'what the next line means, ');
