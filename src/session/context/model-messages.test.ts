import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BashExecutionMessage } from '../../protocol/generated/vocabulary.ts';
import { assistant, block, brief, call, prompt, result } from '../testing/sample-messages.ts';
import { modelMessages } from './model-messages.ts';

const ran = (own: Partial<BashExecutionMessage>): BashExecutionMessage => ({
  role: 'bashExecution',
  command: 'ls',
  output: 'a.txt',
  exitCode: 0,
  cancelled: false,
  truncated: false,
  timestamp: 7,
  ...own,
});

const user = (text: string, timestamp = 7) => prompt(text, timestamp);

describe('modelMessages', () => {
  it('leaves user, assistant and tool messages unchanged', () => {
    const messages = [prompt('hi'), assistant([call('1')]), result('1'), assistant([block('done')])];

    expect(modelMessages(messages)).toEqual(messages);
  });

  it('omits assistant messages that failed or were aborted', () => {
    const messages = [
      prompt('hi'),
      assistant([block('half')], { stopReason: 'aborted' }),
      assistant([call('1')], { stopReason: 'error' }),
      prompt('again'),
    ];

    expect(modelMessages(messages)).toEqual([prompt('hi'), prompt('again')]);
  });

  it('sends summaries and custom messages as user messages', () => {
    expect(
      modelMessages([
        { role: 'compactionSummary', summary: 'the past', tokensBefore: 9, timestamp: 7 },
        { role: 'branchSummary', summary: 'the branch', fromId: 'x', timestamp: 7 },
        { role: 'custom', customType: 'note', content: 'look', display: true, timestamp: 7 },
      ]),
    ).toEqual([
      user('This is a summary of the conversation so far:\n\n<summary>\nthe past\n</summary>'),
      user('This is what happened on a branch that was left:\n\n<summary>\nthe branch\n</summary>'),
      { role: 'user', content: 'look', timestamp: 7 },
    ]);
  });

  it.each([
    [{}, 'Ran `ls`\n```\na.txt\n```'],
    [{ output: '' }, 'Ran `ls`\n(no output)'],
    [{ exitCode: 2 }, 'Ran `ls`\n```\na.txt\n```\n\nCommand exited with code 2'],
    [{ exitCode: null, cancelled: true }, 'Ran `ls`\n```\na.txt\n```\n\n(command cancelled)'],
    [
      { truncated: true, fullOutputPath: '/tmp/log' },
      'Ran `ls`\n```\na.txt\n```\n\n[Output truncated. Full output: /tmp/log]',
    ],
  ])('sends a shell command with its output: %j', (own, text) => {
    expect(modelMessages([ran(own)])).toEqual([user(text)]);
  });

  it('omits an excluded shell command', () => {
    expect(modelMessages([ran({ excludeFromContext: true })])).toEqual([]);
  });
});

describe('a tool call without a result', () => {
  it('gets an error result right after the call', () => {
    const messages = [assistant([call('1'), call('2'), call('3')], { timestamp: 5 }), result('2'), prompt('go on')];

    const [, lost, ...rest] = modelMessages(messages);

    expect(lost).toEqual({
      role: 'toolResult',
      toolCallId: '1',
      toolName: 'bash',
      content: [
        { type: 'text', text: 'No result: the agent was stopped while this tool ran. It may have run in part.' },
      ],
      details: { interrupted: true },
      isError: true,
      timestamp: 5,
    });
    expect(rest.map(brief)).toEqual(['result 3 (lost)', 'result 2', 'user: go on']);
  });

  it('gets an error result even if a later call has the same id', () => {
    const messages = [assistant([call('1')]), prompt('again'), assistant([call('1')]), result('1')];

    expect(modelMessages(messages).map(brief)).toEqual([
      'assistant: 1',
      'result 1 (lost)',
      'user: again',
      'assistant: 1',
      'result 1',
    ]);
  });

  it('always gets exactly one result', () => {
    const anyTurn = fc.record({
      calls: fc.uniqueArray(fc.constantFrom('1', '2', '3')),
      lost: fc.array(fc.constantFrom('1', '2', '3')),
      stopReason: fc.constantFrom('toolUse' as const, 'aborted' as const),
    });
    fc.assert(
      fc.property(fc.array(anyTurn), (turns) => {
        const messages = turns.flatMap(({ calls, lost, stopReason }) => [
          assistant(
            calls.map((id) => call(id)),
            { stopReason },
          ),
          ...(stopReason === 'aborted' ? [] : calls.filter((id) => !lost.includes(id)).map((id) => result(id))),
          prompt('next'),
        ]);

        const sent = modelMessages(messages).map(brief);

        const expected = turns.flatMap(({ calls, lost, stopReason }) => {
          if (stopReason === 'aborted') return ['user: next'];
          const open = calls.filter((id) => lost.includes(id)).map((id) => `result ${id} (lost)`);
          const given = calls.filter((id) => !lost.includes(id)).map((id) => `result ${id}`);
          return [`assistant: ${calls.join('')}`, ...open, ...given, 'user: next'];
        });
        expect(sent).toEqual(expected);
      }),
    );
  });
});
