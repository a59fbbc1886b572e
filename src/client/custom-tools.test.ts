import { describe, expect, it } from 'vitest';
import type { CustomTool, CustomToolCall } from './custom-tools.ts';
import { CommandFailed } from './errors.ts';
import { connect, delivered } from './testing/agent.ts';

const tool = (name: string, execute: CustomTool['execute']): CustomTool => ({
  name,
  description: `The tool ${name}`,
  parameters: { type: 'object' },
  execute,
});

const call = (id: string, toolName: string, args: object = {}) => ({
  type: 'host_tool_call',
  id,
  toolCallId: `call of ${id}`,
  toolName,
  arguments: args,
});

const cancel = (targetId: string) => ({ type: 'host_tool_cancel', id: 'cancel', targetId });

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

// A client with registered tools; `frames` returns what it has sent since.
async function withTools(...tools: CustomTool[]) {
  const agent = connect();
  const registered = agent.client.setCustomTools(tools);
  agent.respond('req_1', { command: 'set_host_tools', data: { toolNames: tools.map(({ name }) => name) } });
  const result = await registered;
  return { ...agent, registered: result, frames: () => agent.sent.slice(1) };
}

// A tool that blocks until the test finishes its calls.
function blockingTool(name: string) {
  const calls: (CustomToolCall & { finish: (words: string) => void })[] = [];
  const execute: CustomTool['execute'] = (_args, given) =>
    new Promise((resolve) => calls.push({ ...given, finish: resolve }));
  return { tool: tool(name, execute), calls };
}

describe('custom tools', () => {
  it('[V7] are registered without fields of the client', async () => {
    const own = { ...tool('a', () => ''), label: 'A', hidden: true, timeoutMs: 5 };

    const { sent, registered } = await withTools(own);

    const { execute: _execute, ...definition } = own;
    expect(sent).toEqual([{ id: 'req_1', type: 'set_host_tools', tools: [definition] }]);
    expect(registered).toEqual({ toolNames: ['a'] });
  });

  it('[V7] return text, blocks, or the message of their error', async () => {
    const blocks = { ...text('two'), details: { more: 1 } };
    const { emit, frames } = await withTools(
      tool('says', ({ words }, { toolCallId }) => `${words} to ${toolCallId}`),
      tool('shows', async () => blocks),
      tool('throws', () => {
        throw new Error('no luck');
      }),
      tool('rejects', () => Promise.reject('no words')),
      tool('cannot be sent', () => ({ content: [], details: 1n })),
    );

    const names = ['says', 'shows', 'throws', 'rejects', 'cannot be sent', 'nobody'];
    emit(...names.map((name) => call(name, name, { words: 'hello' })));
    await delivered();

    const result = (id: string, value: object, more: object = {}) => ({
      type: 'host_tool_result',
      id,
      result: value,
      ...more,
    });
    expect(frames()).toHaveLength(names.length);
    expect(frames()).toEqual(
      expect.arrayContaining([
        result('says', text('hello to call of says')),
        result('shows', blocks),
        result('throws', text('no luck'), { isError: true }),
        result('rejects', text('no words'), { isError: true }),
        result('cannot be sent', text(expect.stringContaining('BigInt') as string), { isError: true }),
        result('nobody', text('Host tool "nobody" is not registered'), { isError: true }),
      ]),
    );
  });

  it('[V7] send progress until they end', async () => {
    const slow = blockingTool('slow');
    const { emit, frames } = await withTools(slow.tool);
    emit(call('1', 'slow'));
    await delivered();

    slow.calls[0]?.update('half');
    slow.calls[0]?.update({ ...text('nearly'), details: 9 });
    slow.calls[0]?.finish('all');
    await delivered();
    slow.calls[0]?.update('late');
    await delivered();

    expect(frames()).toEqual([
      { type: 'host_tool_update', id: '1', partialResult: text('half') },
      { type: 'host_tool_update', id: '1', partialResult: { ...text('nearly'), details: 9 } },
      { type: 'host_tool_result', id: '1', result: text('all') },
    ]);
  });

  it('[V7] are aborted by a cancel, and send nothing after it', async () => {
    const slow = blockingTool('slow');
    const { emit, frames } = await withTools(slow.tool);
    emit(call('1', 'slow'), call('2', 'slow'));
    await delivered();

    emit(cancel('1'), cancel('nobody'));
    await delivered();
    expect(slow.calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(slow.calls[0]?.signal.reason).toMatchObject({ name: 'AbortError' });
    slow.calls[0]?.update('still here');
    for (const { finish } of slow.calls) finish('done');
    await delivered();
    emit(cancel('2'));
    await delivered();

    expect(slow.calls[1]?.signal.aborted).toBe(false);
    expect(frames()).toEqual([{ type: 'host_tool_result', id: '2', result: text('done') }]);
  });

  it('[V7] are aborted when the connection is lost', async () => {
    const slow = blockingTool('slow');
    const { emit, agent, frames } = await withTools(slow.tool);
    emit(call('1', 'slow'));
    await delivered();

    agent.close();
    await delivered();
    slow.calls[0]?.finish('for nobody');
    await delivered();

    expect(slow.calls[0]?.signal.reason).toMatchObject({ name: 'ConnectionLost' });
    expect(frames()).toEqual([]);
  });

  it('[V7] are replaced from the moment when the next ones are registered', async () => {
    const { client, emit, respond, frames } = await withTools(
      tool('old', () => 'old'),
      tool('both', () => 'before'),
    );
    const next = client.setCustomTools([tool('both', () => 'after'), tool('new', () => 'new')]);
    await delivered();

    // Events behind a response are handled before the awaiting code continues.
    emit(call('1', 'old'));
    respond('req_2', { command: 'set_host_tools', data: { toolNames: ['both', 'new'] } });
    emit(call('2', 'both'), call('3', 'new'));
    await next;
    emit(call('4', 'old'));
    await delivered();

    const results = frames().flatMap(({ id, result }) => {
      const [block] = (result as ReturnType<typeof text> | undefined)?.content ?? [];
      return block ? [`${id} ${block.text}`] : [];
    });
    expect(results).toEqual(['1 old', '2 after', '3 new', '4 Host tool "old" is not registered']);
  });

  it('[V7] stay registered when their replacement is rejected', async () => {
    const { client, emit, frames } = await withTools(tool('mine', () => 'still mine'));
    const refused = client.setCustomTools([tool('mine', () => 'never'), tool('bash', () => '')]);
    emit({
      id: 'req_2',
      type: 'response',
      command: 'set_host_tools',
      success: false,
      error: 'No',
      code: 'invalid_params',
    });
    await expect(refused).rejects.toBeInstanceOf(CommandFailed);

    emit(call('1', 'mine'), call('2', 'bash'));
    await delivered();

    expect(frames().slice(1)).toEqual([
      { type: 'host_tool_result', id: '2', result: text('Host tool "bash" is not registered'), isError: true },
      { type: 'host_tool_result', id: '1', result: text('still mine') },
    ]);
  });

  it('[V6 V7] leave calls to a program that registered its tools itself', async () => {
    const { client, sent, emit } = connect();
    void client.setHostTools({ tools: [] });

    emit(call('1', 'mine'));
    await delivered();

    expect(sent.map(({ type }) => type)).toEqual(['set_host_tools']);
  });
});
