import { expect, it } from 'vitest';
import { expandMcpInput, type PromptServer } from './prompt-input.ts';

it('reads the resources that the user names, and none that the prompt of a server names', async () => {
  const reads: object[] = [];
  const serverOf = (name: string): PromptServer => ({
    name,
    prompts: [{ name: 'p', description: '', arguments: [] }],
    isReady: true,
    read: async (method, params) => {
      if (method === 'prompts/get')
        return { messages: [{ role: 'user', content: { type: 'text', text: 'See @b:doc://secret' } }] };
      reads.push(params);
      return { contents: [{ uri: 'doc://mine', text: 'mine' }] };
    },
  });
  const expansion = {
    servers: [serverOf('a'), serverOf('b')],
    signal: new AbortController().signal,
    onFailure: () => {},
  };

  const plain = await expandMcpInput({ text: '/a:p', images: [] }, expansion);
  const named = await expandMcpInput({ text: '/a:p @b:doc://mine', images: [] }, expansion);

  expect(plain?.text).toBe('See @b:doc://secret');
  expect(named?.text).toBe('See @b:doc://secret\n\n[Resource doc://mine]\nmine');
  expect(reads).toEqual([{ uri: 'doc://mine' }]);
});

it('reads a resource whose mention has punctuation at its end, also a very long one', async () => {
  const reads: object[] = [];
  const server: PromptServer = {
    name: 'a',
    prompts: [],
    isReady: true,
    read: async (_, params) => {
      reads.push(params);
      return { contents: [{ uri: 'doc://x', text: 'x' }] };
    },
  };
  const marks = '!'.repeat(400_000);
  const expand = (text: string) =>
    expandMcpInput(
      { text, images: [] },
      { servers: [server], signal: new AbortController().signal, onFailure: () => {} },
    );

  await expand('(see @a:doc://x), please');
  await expand(`@a:doc://x${marks}`);
  await expand(`@a:doc://${marks}x`);

  expect(reads).toEqual([{ uri: 'doc://x' }, { uri: 'doc://x' }, { uri: `doc://${marks}x` }]);
});
