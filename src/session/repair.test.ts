import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../protocol/generated/vocabulary.ts';
import { SessionLog } from '../store/sessions/session-log.ts';
import { contextOf } from './context/context.ts';
import { repairToolCalls } from './repair.ts';
import { assistant, block, brief, call, prompt, result } from './testing/sample-messages.ts';

function session(...messages: AgentMessage[]): SessionLog {
  const log = SessionLog.inMemory({ cwd: '/srv/shop' });
  for (const message of messages) log.append({ type: 'message', message });
  return log;
}

const context = (log: SessionLog) => contextOf(log.branch()).map(brief);

describe('tool calls that a crash left without a result', () => {
  it('each get an error result', () => {
    const log = session(prompt('go'), assistant([call('1', 'read'), call('2')]));

    expect(repairToolCalls(log)).toEqual(['1', '2']);

    expect(contextOf(log.branch())[2]).toEqual({
      role: 'toolResult',
      toolCallId: '1',
      toolName: 'read',
      content: [
        { type: 'text', text: 'No result: the agent was stopped while this tool ran. It may have run in part.' },
      ],
      details: { interrupted: true },
      isError: true,
      timestamp: expect.any(Number),
    });
    expect(context(log)).toEqual(['user: go', 'assistant: 12', 'result 1 (lost)', 'result 2 (lost)']);
  });

  it('do not include those with a result', () => {
    const log = session(prompt('go'), assistant([call('1'), call('2'), call('3')]), result('2'));

    expect(repairToolCalls(log)).toEqual(['1', '3']);
    expect(repairToolCalls(log)).toEqual([]);
  });

  it('are found behind entries without messages', () => {
    const log = session(prompt('go'), assistant([call('1')]));
    log.append({ type: 'custom', customType: 'state' });

    expect(repairToolCalls(log)).toEqual(['1']);
  });
});

describe('no result is added', () => {
  it.each<[string, AgentMessage[]]>([
    ['in an empty session', []],
    ['after a prompt', [prompt('go')]],
    ['after an assistant message without calls', [prompt('go'), assistant([block('done')])]],
    ['when every call has its result', [prompt('go'), assistant([call('1')]), result('1')]],
    ['after an aborted assistant message', [prompt('go'), assistant([call('1')], { stopReason: 'aborted' })]],
    ['after a failed assistant message', [prompt('go'), assistant([call('1')], { stopReason: 'error' })]],
    ['to calls before a later prompt', [assistant([call('1')]), prompt('never mind')]],
  ])('%s', (_when, messages) => {
    const log = session(...messages);

    expect(repairToolCalls(log)).toEqual([]);
    expect(log.size).toBe(messages.length);
  });

  it('to calls at a leaf that the user navigated to', () => {
    const log = session(prompt('go'), assistant([call('1')]), result('1'));
    log.storeLeaf(log.entries()[1]?.id ?? null);

    expect(repairToolCalls(log)).toEqual([]);
  });

  it('to calls on another branch', () => {
    const log = session(prompt('go'), assistant([call('1')]));
    log.moveLeaf(log.entries()[0]?.id ?? null);

    expect(repairToolCalls(log)).toEqual([]);
  });
});
