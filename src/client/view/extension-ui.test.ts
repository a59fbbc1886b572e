import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { emptyUi, MAX_NOTICES, reduceUi } from './extension-ui.ts';

let requests = 0;
const request = (method: string, fields: object) =>
  ({ type: 'extension_ui_request', id: `u${++requests}`, method, ...fields }) as AgentEvent;
const status = (statusKey: string, statusText?: string) => request('setStatus', { statusKey, statusText });
const uiAfter = (...events: AgentEvent[]) => events.reduce(reduceUi, emptyUi);

describe('the extension UI', () => {
  it('[V37] has every open dialog once', () => {
    const [first, second] = [request('select', { id: 'a', title: 'Which?' }), request('confirm', { id: 'b' })];
    const again = request('select', { id: 'a', title: 'Which?' });

    expect(uiAfter(first, second, again).dialogs).toEqual([first, second]);
    expect(uiAfter({ ...first, seq: 7 }).dialogs).toEqual([first]);
    expect(uiAfter(first, second, { type: 'extension_ui_resolved', id: 'a' }).dialogs).toEqual([second]);
  });

  it('[V37] has the approval of a question', () => {
    const approval = { kind: 'tool', options: [{ optionId: 'y', name: 'Allow once', kind: 'allow_once' }] };
    const question = request('select', { id: 'a', title: 'Run?', options: ['Allow once'], approval });

    expect(uiAfter({ ...question, seq: 7 }).dialogs).toEqual([question]);
  });

  it('[V37] has a status until it is cleared, also by null', () => {
    const before = [status('b', 'two'), status('a', 'one'), status('b', 'three'), status('__proto__', 'odd')];

    expect(uiAfter(...before).statuses).toEqual([
      { key: '__proto__', text: 'odd' },
      { key: 'a', text: 'one' },
      { key: 'b', text: 'three' },
    ]);
    expect(
      uiAfter(...before, status('a'), request('setStatus', { statusKey: 'b', statusText: null })).statuses,
    ).toEqual([{ key: '__proto__', text: 'odd' }]);
  });

  it('[V37] has widgets at their placement until they are cleared', () => {
    const below = request('setWidget', { widgetKey: 'w', widgetLines: ['x'], widgetPlacement: 'belowEditor' });
    const above = request('setWidget', { widgetKey: 'v', widgetLines: [] });

    expect(uiAfter(below, above).widgets).toEqual([
      { key: 'v', lines: [], placement: 'aboveEditor' },
      { key: 'w', lines: ['x'], placement: 'belowEditor' },
    ]);
    expect(uiAfter(below, request('setWidget', { widgetKey: 'w' })).widgets).toEqual([]);
  });

  it('[V37] has the title that was set last', () => {
    expect(uiAfter(request('setTitle', { title: 'a' }), request('setTitle', { title: 'b' })).title).toBe('b');
  });

  it('[V37] has the newest notices only', () => {
    const many = Array.from({ length: MAX_NOTICES }, (_, index) => request('notify', { message: `${index}` }));

    const { notices } = uiAfter(
      ...many,
      request('notify', { message: 'careful', notifyType: 'warning' }),
      { type: 'extension_error', extensionPath: 'x.ts', event: 'turn', error: 'broke' },
      { type: 'server_error', error: 'gone' },
      { type: 'warning', source: 'models', message: 'models.json: not valid JSON' },
    );

    expect(notices).toHaveLength(MAX_NOTICES);
    expect(notices[0]).toEqual({ kind: 'info', text: '4' });
    expect(notices.slice(-4)).toEqual([
      { kind: 'warning', text: 'careful' },
      { kind: 'error', text: 'x.ts: broke' },
      { kind: 'error', text: 'gone' },
      { kind: 'warning', text: 'models.json: not valid JSON' },
    ]);
  });

  it('[V37] is the same object after unrelated events', () => {
    for (const event of [{ type: 'turn_start' }, request('set_editor_text', { text: 'x' }), request('hologram', {})]) {
      expect(reduceUi(emptyUi, event as AgentEvent)).toBe(emptyUi);
    }
  });
});
