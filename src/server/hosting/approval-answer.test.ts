import { expect, it } from 'vitest';
import type { Approval, ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { approvalIn, judgeAnswer } from './approval-answer.ts';

const approval: Partial<Approval> = {
  kind: 'outside',
  toolName: 'bash',
  needs: 'auto',
  options: [
    { optionId: 'o', name: 'Allow once', kind: 'allow_once' },
    { optionId: 's', name: 'Allow for this session', kind: 'allow_session' },
    { optionId: 'a', name: 'Always allow: rm', kind: 'allow_always' },
    { optionId: 'd', name: 'Deny', kind: 'reject_once' },
    { optionId: 'x', name: 'Deny and stop', kind: 'reject_stop' },
  ],
};

const frame = (more: object) => ({ type: 'extension_ui_response', id: 'q', ...more }) as const;

it('an answer names an option by its id or its label, and any other value denies the call', () => {
  for (const value of ['a', 'Always allow: rm']) {
    const judged = judgeAnswer(approval, frame({ value }));
    expect(judged.answer).toEqual({ tool: 'bash', kind: 'outside', option: 'allow_always' });
    expect(judged.frame).toEqual(frame({ value }));
  }
  for (const more of [{ value: 'Allow' }, {}, { confirmed: true }, { value: 'o', cancelled: true }]) {
    const judged = judgeAnswer(approval, frame({ ...more, message: 'no' }));
    expect(judged.answer.option).toBe('reject_once');
    expect(judged.frame).toMatchObject({ cancelled: true, message: 'no' });
    expect(judged.frame).not.toHaveProperty('value');
  }
});

it('a limit allows calls that it would run, never for good, and denies any call', () => {
  const isBeyond = (value: string, approvalLimit?: string, needs: unknown = 'auto') =>
    judgeAnswer({ ...approval, needs } as Partial<Approval>, frame({ value, approvalLimit })).isBeyondLimit;

  expect(['plan', 'ask', 'edit', 'auto'].map((limit) => isBeyond('o', limit))).toEqual([true, true, true, false]);
  expect(['edit', 'auto'].map((limit) => isBeyond('s', limit))).toEqual([true, false]);
  expect(['auto', 'full', undefined].map((limit) => isBeyond('a', limit))).toEqual([true, true, false]);
  for (const value of ['d', 'x', 'other']) expect(isBeyond(value, 'plan', 'full')).toBe(false);
  // Without a known mode the call needs the highest limit.
  for (const needs of [null, 'none', 7, {}]) expect(isBeyond('o', 'auto', needs)).toBe(true);
});

it('malformed questions of other agents are judged strictly', () => {
  const odd: unknown[] = [
    null,
    7,
    'x',
    [],
    {},
    { options: 7 },
    { options: [null, 7, {}, { optionId: 'o', kind: 'x' }] },
  ];

  for (const value of odd) {
    const dialog = { type: 'extension_ui_request', id: 'q', method: 'select', approval: value } as unknown;
    const found = approvalIn(dialog as ExtensionUiRequestEvent);
    const { answer, frame: sent } = judgeAnswer(found ?? {}, frame({ value: 'o', approvalLimit: 'plan' }));
    expect(found).toBeDefined();
    expect(answer).toMatchObject({ kind: 'unknown', option: 'reject_once' });
    expect(sent).toMatchObject({ cancelled: true });
  }
  expect(judgeAnswer({ ...approval, toolName: 'x'.repeat(1000) }, frame({})).answer.tool).toHaveLength(200);
});
