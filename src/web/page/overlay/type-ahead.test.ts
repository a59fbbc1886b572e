import { expect, it } from 'vitest';
import { TypeAhead } from './type-ahead.ts';

const levels = ['off', 'minimal', 'low', 'Medium', 'high', 'xhigh', 'max'].map((words) => ({ words }));

function typed(keys: readonly (readonly [key: string, timeStamp: number])[], modifiers = {}) {
  const typing = new TypeAhead();
  const none = { ctrlKey: false, metaKey: false, altKey: false };
  const found = keys.map(([key, timeStamp]) => typing.find({ key, timeStamp, ...none, ...modifiers }, levels));
  return found.map((index) => (index === undefined ? undefined : levels[index]?.words));
}

it('letters typed in quick succession form one prefix', () => {
  expect(typed([...'high'].map((key, index) => [key, 5000 + 999 * index]))).toEqual(['high', 'high', 'high', 'high']);
  expect(typed([...'MED'].map((key) => [key, 0]))).toEqual(['minimal', 'Medium', 'Medium']);
  expect(typed([...'mx'].map((key) => [key, 0]))).toEqual(['minimal', undefined]);
});

it('a letter after a pause starts a new prefix', () => {
  expect(
    typed([
      ['h', 0],
      ['x', 1000],
      ['l', 2500],
    ]),
  ).toEqual(['high', 'xhigh', 'low']);
});

it('keys that are no letters, or have modifiers, are ignored', () => {
  expect(
    typed([
      ['h', 0],
      ['Shift', 1],
      ['i', 2],
    ]),
  ).toEqual(['high', undefined, 'high']);
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey'])
    expect(typed([['h', 0]], { [modifier]: true })).toEqual([undefined]);
});
