import { expect, it } from 'vitest';
import { ApprovalCommands, requestChatApprovals } from './approval-commands.ts';
import { inChat } from './testing/scripted-chat.ts';

// The commands of a chat whose agent responds with this data, or refuses with a code.
function withCommands(responses: Readonly<Record<string, object | string>> = {}) {
  const chat = inChat();
  const commands = new ApprovalCommands(chat.client, chat.printer);
  const requests: object[] = [];
  const enter = async (line: string) => {
    const isCommand = commands.handleLine(line);
    await chat.delivered();
    const sent = chat.sent.splice(0);
    requests.push(...sent);
    for (const { id, type } of sent) {
      const response = responses[String(type)];
      const fields =
        typeof response === 'string'
          ? { success: false, error: `No: ${response}`, code: response }
          : { success: true, data: response };
      await chat.emit({ id, type: 'response', command: type, ...fields });
    }
    await chat.delivered();
    return isCommand;
  };
  return { ...chat, commands, enter, requests };
}

const off = { status: 'off' } as const;

it('/mode prints the mode, the sandbox and the modes to choose from', async () => {
  const { enter, printed } = withCommands({
    get_state: {
      approvalMode: 'auto',
      approvalModes: ['plan', 'ask', 'auto'],
      sandbox: { status: 'on', engine: 'bubblewrap', network: 'ask', writable: [] },
    },
  });

  expect(await enter('/mode')).toBe(true);

  expect(printed()).toBe(
    'Approvals: auto. Sandbox: on, network ask, no folder is writable.\n/mode <mode> sets it: plan, ask, auto\n',
  );
});

it('/mode with a mode sets it and prints the result once', async () => {
  const { enter, commands, requests, printed } = withCommands({
    set_approval_mode: { approvalMode: 'ask', sandbox: off },
  });
  await enter('/mode  ask ');
  commands.handleEvent({ type: 'state_changed', state: { approvalMode: 'ask', sandbox: off } });

  expect(requests).toMatchObject([{ type: 'set_approval_mode', mode: 'ask' }]);
  expect(printed()).toBe('Approvals: ask. Sandbox: off.\n');
});

it.each<[string, Record<string, object | string>, string]>([
  ['/mode yolo', {}, 'The modes are plan, ask, edit, auto, full.\n'],
  ['/mode', { get_state: {} }, 'This agent has no approval modes.\n'],
  ['/mode full', { set_approval_mode: 'permission_denied' }, 'No: permission_denied\n'],
  ['/approvals', { get_approvals: { approvals: [] } }, 'No approvals are saved.\n'],
  [
    '/approvals list',
    {
      get_approvals: {
        approvals: [
          { rule: 'bash(npm test)', scope: 'session' },
          { rule: 'bash(git\u001B push)', scope: 'project', at: '2026-11-20T10:00:00.000Z' },
        ],
      },
    },
    '  bash(npm test)  (this session)\n  bash(git push)  (this project, 2026-11-20)\n',
  ],
  ['/approvals remove bash(npm test)', { remove_approval: {} }, 'Removed bash(npm test)\n'],
  ['/approvals remove x', { remove_approval: 'not_found' }, 'No: not_found\n'],
  ['/approvals remove', {}, '/approvals lists the saved approvals, /approvals remove <rule> withdraws one.\n'],
  ['/approvals list x', {}, '/approvals lists the saved approvals, /approvals remove <rule> withdraws one.\n'],
])('%s prints the result or the refusal', async (line, responses, text) => {
  const { enter, printed } = withCommands(responses);

  expect(await enter(line)).toBe(true);

  expect(printed()).toBe(text);
});

it.each(['/modes', '/model', 'mode', 'a /mode', '/mode\nask', '/approvalsx', ''])('%j is no command', async (line) => {
  expect(await withCommands().enter(line)).toBe(false);
});

it('a mode that was always unrestricted is not printed, any other and each change is', async () => {
  const { commands, printed } = withCommands();

  commands.show({});
  commands.show({ approvalMode: 'full', sandbox: off });
  commands.handleEvent({ type: 'state_changed', state: { sessionName: 'x' } });
  commands.handleEvent({ type: 'state_changed', state: { approvalMode: 'auto' } });
  commands.handleEvent({
    type: 'state_changed',
    state: { sandbox: { status: 'unavailable', reason: 'bwrap is missing' } },
  });
  commands.handleEvent({ type: 'state_changed', state: { approvalMode: 'full', sandbox: off } });

  expect(printed()).toBe(
    'Approvals: auto. Sandbox: off.\n' +
      'Approvals: auto. Sandbox: none works here (bwrap is missing).\n' +
      'Approvals: full. Sandbox: off.\n',
  );
});

it.each([
  ['not_supported', undefined],
  ['permission_denied', undefined],
  ['unknown_command', undefined],
  ['sandbox_unavailable', 'No: sandbox_unavailable'],
])('a chat continues after the refusal %s unless the sandbox is required', async (code, message) => {
  const { client, emit, delivered, sent } = inChat();
  const outcome = requestChatApprovals(client).then(
    () => undefined,
    (error: Error) => error.message,
  );
  await delivered();

  const [{ id, ...request } = {}] = sent;
  await emit({ id, type: 'response', success: false, error: `No: ${code}`, code });

  expect(request).toEqual({ type: 'set_approval_mode', mode: 'auto', sandbox: 'auto' });
  expect(await outcome).toBe(message);
});

it('/mode with the current mode prints it, also an unrestricted one', async () => {
  const { enter, commands, printed } = withCommands({ set_approval_mode: { approvalMode: 'full', sandbox: off } });

  commands.show({ approvalMode: 'full', sandbox: off });
  await enter('/mode full');
  await enter('/mode full');

  expect(printed()).toBe('Approvals: full. Sandbox: off.\n'.repeat(2));
});
