import { expect } from 'vitest';
import { allNotifications, callTool, homeWithCommands, nextNotification } from '../../support/agent/extensions.ts';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { verifies } from '../../support/verifies.ts';

const toolCall = (name: string, args: object = {}) => ({ toolCall: { name, arguments: args } });

const text = (value: string) => `({ content: [{ type: 'text', text: ${value} }] })`;

/** Code that registers a tool with this body. */
const tool = (name: string, body: string, fields = '') =>
  `pi.registerTool({ name: '${name}', description: '${name}', parameters: { type: 'object' }, ${fields}
    execute: async (id, args, signal, onUpdate, ctx) => { ${body} } });`;

verifies('I4', 'get_tools waits for the tools of extensions', async ({ open }) => {
  const { home } = homeWithCommands({}, tool('mine', `return ${text("'a'")};`));
  const { peer } = await open({ home });

  const { tools } = await peer.ok({ type: 'get_tools' });

  expect(tools.map(({ name }: { name: string }) => name)).toContain('mine');
});

verifies('X61', 'the calls of a message with a sequential tool run one after another', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `${tool('alone', `await new Promise((resolve) => setImmediate(resolve)); return ${text("'a'")};`, "executionMode: 'sequential',")}
    ${tool('any', `return ${text("'b'")};`)}`,
  );
  const { peer } = await open({
    home,
    script: [{ steps: [toolCall('any'), toolCall('alone'), toolCall('any')] }, { text: 'done' }],
  });

  const records = await peer.run('go');

  const order = records.flatMap(({ type, toolName }) =>
    /^tool_execution_(start|end)$/.test(type) ? [`${type.slice(15)} ${toolName}`] : [],
  );
  expect(order).toEqual(['start any', 'end any', 'start alone', 'end alone', 'start any', 'end any']);
});

verifies('X62', 'blocked calls with terminate end the run only if every result has it', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `pi.on('tool_call', ({ input }) => {
      if (input.command !== 'true') return { block: true, reason: 'no', terminate: true };
    });`,
  );
  const { peer } = await open({
    home,
    script: [
      { steps: [toolCall('bash', { command: 'rm' }), toolCall('bash', { command: 'true' })] },
      callTool('bash', { command: 'rm' }),
      { text: 'never' },
    ],
  });

  const records = await peer.run('go');

  expect(records.filter(({ type }) => type === 'turn_end')).toHaveLength(2);
  expect(assistantTexts(records)).not.toContain('never');
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
});

for (const [kind, listener] of Object.entries({
  throws: '() => { calls++; throw new Error("no view"); }',
  rejects: 'async () => { calls++; throw new Error("no view"); }',
})) {
  verifies('X85', `an onUpdate that ${kind} is reported once and fails no call`, async ({ open }) => {
    const { home, path } = homeWithCommands(
      {},
      `${tool(
        'outer',
        `let calls = 0;
        const { isError, result } = await ctx.executeTool('inner', {}, { onUpdate: ${listener} });
        const { isError: bashFailed } = await ctx.executeTool('bash', { command: 'echo line' }, { onUpdate: ${listener} });
        tell(ctx, { isError, text: result.content[0].text, bashFailed, calls });
        return ${text("'outer'")};`,
      )}
      ${tool(
        'inner',
        `for (const part of ['a', 'b']) {
          onUpdate({ content: [{ type: 'text', text: part }] });
          await new Promise((resolve) => setImmediate(resolve));
        }
        return ${text("'inner'")};`,
      )}`,
    );
    const { peer } = await open({ home, script: [callTool('outer', {}), { text: 'done' }] });

    const records = await peer.run('go');

    expect(allNotifications(peer)).toMatchObject([{ isError: false, text: 'inner', bashFailed: false, calls: 2 }]);
    const failures = records.filter(({ type }) => type === 'extension_error');
    const failure = { extensionPath: path, event: 'execute_tool', error: 'no view' };
    expect(failures).toMatchObject([failure, failure]);
  });
}

verifies('X63', 'a tool runs another one through its checks and handlers', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `${tool(
      'outer',
      `const updates = [];
      const good = await ctx.executeTool('inner', { n: 1 }, { onUpdate: (result) => updates.push(result.content[0].text) });
      const blocked = await ctx.executeTool('bash', { command: 'rm' });
      const missing = await ctx.executeTool('nothing', {});
      const names = ctx.tools.map(({ name }) => name).filter((name) => name === 'inner' || name === 'secret');
      tell(ctx, { good, blocked: blocked.isError, missing: missing.result.content[0].text, updates, names });
      return ${text("'outer'")};`,
    )}
    ${tool(
      'inner',
      `onUpdate(${text("'half'")}); await new Promise((resolve) => setImmediate(resolve));
      return { ...${text("'inner ' + args.n")}, usage: { input: 3, output: 2, cost: { total: 0.25 } } };`,
      "exposure: 'codemode',",
    )}
    ${tool('secret', `return ${text("'s'")};`, "exposure: 'hidden',")}
    pi.on('tool_call', ({ toolName, input, toolCallId, parentToolCallId }) => {
      if (parentToolCallId !== undefined && toolCallId !== parentToolCallId + '/1' && toolName === 'inner') throw new Error('id');
      if (input.command === 'rm') return { block: true };
    });
    pi.on('tool_result', ({ parentToolCallId, content }) =>
      parentToolCallId ? { content: [{ type: 'text', text: content[0].text + '!' }] } : undefined);`,
  );
  const { peer } = await open({ home, script: [callTool('outer', {}), { text: 'done' }] });

  const records = await peer.run('go');

  const [seen] = allNotifications(peer);
  expect(seen).toMatchObject({
    good: { isError: false, result: { content: [{ type: 'text', text: 'inner 1!' }] }, toolCall: { name: 'inner' } },
    blocked: true,
    missing: 'Tool nothing not found!',
    updates: ['half'],
    names: ['inner'],
  });
  const starts = records.filter(({ type }) => type === 'tool_execution_start');
  const [outerId] = starts.map(({ toolCallId }) => toolCallId);
  expect(starts.slice(1)).toMatchObject([
    { toolName: 'inner', toolCallId: `${outerId}/1`, parentToolCallId: outerId },
    { toolName: 'bash', toolCallId: `${outerId}/2`, parentToolCallId: outerId },
    { toolName: 'nothing', toolCallId: `${outerId}/3` },
  ]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[2]).toMatchObject({
    role: 'toolResult',
    toolName: 'outer',
    usage: { input: 3, output: 2, totalTokens: 5, cost: { total: 0.25 } },
    nestedCalls: {
      complete: true,
      calls: [
        { id: `${outerId}/1`, name: 'inner', arguments: { n: 1 }, status: 'ok' },
        { name: 'bash', status: 'error', error: 'Tool execution was blocked!' },
        { name: 'nothing', status: 'error' },
      ],
    },
  });
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ cost: 0.25 });
});

verifies('X63', 'an abort stops a nested call, and none outlives its caller', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `let onStart;
    const started = new Promise((resolve) => { onStart = resolve; });
    ${tool('outer', `const nested = ctx.executeTool('wait', {}); await (args.stay ? nested : started); return ${text("'outer'")};`)}
    ${tool(
      'wait',
      `tell(ctx, 'waits');
      onStart();
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      tell(ctx, 'stopped');
      throw new Error('stopped');`,
    )}`,
  );
  const { peer } = await open({ home, script: [callTool('outer', {}), callTool('outer', { stay: true })] });

  const run = peer.run('go');
  const before = [await nextNotification(peer), await nextNotification(peer), await nextNotification(peer)];
  await peer.ok({ type: 'abort' });
  const records = await run;

  expect(before).toEqual(['waits', 'stopped', 'waits']);
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'aborted' });
  expect(allNotifications(peer)).toEqual([...before, 'stopped']);
});

verifies('X64', 'results carry structured content, usage and the time of the call', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `${tool('count', `return { ...${text("'2'")}, structuredContent: { n: 2 }, usage: { input: 1, cost: { total: 1 } } };`)}
    pi.on('tool_result', ({ structuredContent, usage }) =>
      ({ structuredContent: { n: structuredContent.n + 1 }, usage: { ...usage, cost: { total: 2 } } }));
    pi.on('tool_execution_end', ({ durationMs, result }, ctx) => tell(ctx, [typeof durationMs, result.structuredContent]));`,
  );
  const { peer } = await open({ home, script: [callTool('count', {}), { text: 'done' }] });

  const records = await peer.run({ message: 'go', limits: { cost: 1.5 } });

  expect(records.find(({ type }) => type === 'tool_execution_end')).toMatchObject({
    result: { structuredContent: { n: 3 } },
    durationMs: expect.any(Number),
  });
  expect(allNotifications(peer)).toEqual([['number', { n: 3 }]]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[2]).toMatchObject({ usage: { input: 1, cost: { total: 2 } }, durationMs: expect.any(Number) });
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ cost: 2 });
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'budget' });
});

verifies('X65', 'the exposure of a tool decides whether the model is offered it', async ({ open }) => {
  const { home } = homeWithCommands(
    {
      list: `const listed = pi.getAllTools().filter(({ name }) => name.startsWith('x_'));
        tell(ctx, [pi.getActiveTools().filter((name) => name.startsWith('x_')), listed]);`,
      activate: "pi.setActiveTools(['x_deferred', 'x_hidden']); tell(ctx, pi.getActiveTools());",
    },
    `${tool('x_direct', '', "promptGuidelines: ['use it'], annotations: { readOnlyHint: true },")}
    ${tool('x_model', '', "exposure: 'model-only', namespace: { name: 'x' },")}
    ${tool('x_deferred', '', "exposure: 'deferred',")}
    ${tool('x_hidden', '', "exposure: 'hidden',")}`,
  );
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/list' });
  const [active, listed] = await nextNotification(peer);
  await peer.ok({ type: 'prompt', message: '/activate' });

  expect(active).toEqual(['x_direct', 'x_model']);
  expect(listed).toMatchObject([
    { exposure: 'direct', promptGuidelines: ['use it'], annotations: { readOnlyHint: true } },
    { exposure: 'model-only', namespace: { name: 'x' } },
    { exposure: 'deferred' },
    { exposure: 'hidden' },
  ]);
  expect(await nextNotification(peer)).toEqual(['x_deferred']);
});

verifies('X66', 'exec ends a program whose output exceeds maxBuffer', async ({ open }) => {
  const { home } = homeWithCommands({
    flood: "tell(ctx, await pi.exec('yes', [], { maxBuffer: 6 }));",
    bad: "tell(ctx, await pi.exec('true', [], { maxBuffer: -1 }).catch(({ message }) => message));",
  });
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/flood' });
  const flooded = await nextNotification(peer);
  await peer.ok({ type: 'prompt', message: '/bad' });

  expect(flooded).toMatchObject({ stdout: 'y\ny\ny\n', killed: true, truncated: true });
  expect(await nextNotification(peer)).toContain('maxBuffer');
});
