import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval } from '../../../src/protocol/generated/vocabulary.ts';
import type { Home } from '../agent/test-agent.ts';
import type { WireRecord } from '../clients/peer.ts';
import { interceptingAgentArgs } from './intercepting-agent.ts';

/** The command of every question: no client that may not see it gets a record with it. */
export const ASKED_COMMAND = 'deploy --secret-place';

/** The options of every question, by their kinds. */
export const OPTION_NAMES = {
  allow_once: 'Allow once',
  allow_session: 'Allow for this session',
  allow_always: `Always allow: ${ASKED_COMMAND}`,
  reject_once: 'Deny',
  reject_stop: 'Deny and stop',
} as const;

/** A question about a tool call, as an agent sends it. */
export function question(id: string, more: Partial<Approval> = {}) {
  const options = Object.entries(OPTION_NAMES).map(([kind, name]) => ({ optionId: `${kind}-id`, name, kind }));
  const approval = {
    kind: 'tool',
    toolCallId: 'call-1',
    toolName: 'bash',
    source: 'builtin',
    title: 'Run a command?',
    subject: { type: 'command', command: ASKED_COMMAND, cwd: '/' },
    why: { mode: 'ask' },
    options,
    ...more,
  };
  const title = `Run a command?\n\n  ${ASKED_COMMAND}`;
  return { type: 'extension_ui_request', id, method: 'select', title, options: Object.values(OPTION_NAMES), approval };
}

/** The name that makes the agent publish these records: sent with `set_session_name`. */
export const publishing = (...records: readonly object[]): string => `publish ${JSON.stringify(records)}`;

/**
 * An agent that keeps its questions open and lists them in its state. It accepts prompts without a run, and
 * `set_approval_mode`. `received` returns the commands and frames that it got from the server, in order.
 */
export function approvalAgent(home: Home): { args: string[]; received: (type: string) => WireRecord[] } {
  const log = join(home.root, 'received.jsonl');
  const intercept = `
    appendFileSync(${JSON.stringify(log)}, JSON.stringify(request) + '\\n');
    if (request.type === 'extension_ui_response') return pending.delete(request.id) || true;
    if (request.type === 'set_session_name' && request.name.startsWith('publish ')) {
      for (const record of JSON.parse(request.name.slice(8))) {
        if (record.type === 'extension_ui_request') pending.set(record.id, record);
        say(record);
      }
      answer(request, { success: true });
      return true;
    }
    const accepted = {
      prompt: { disposition: 'handled' },
      steer: { disposition: 'handled' },
      follow_up: { disposition: 'handled' },
      abort_and_prompt: { disposition: 'handled' },
      set_approval_mode: { approvalMode: 'ask', sandbox: { status: 'off' } },
    };
    if (!Object.hasOwn(accepted, request.type)) return false;
    answer(request, { success: true, data: accepted[request.type] });
    return true;`;
  const output = `if (record.command === 'get_state' && record.data) record.data.pendingUi = [...pending.values()];`;
  const lines = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []);
  return {
    args: interceptingAgentArgs(home, intercept, { start: 'const pending = new Map();', outgoing: output }),
    received: (type) =>
      lines()
        .map((line) => JSON.parse(line) as WireRecord)
        .filter((record) => record.type === type),
  };
}
