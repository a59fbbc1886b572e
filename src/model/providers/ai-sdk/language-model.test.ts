import { describe, expect, it } from 'vitest';
import { scriptedRequest } from '../../scripted/testing/call.ts';
import { languageModel } from './language-model.ts';

const endpoint = {
  baseUrl: 'http://127.0.0.1:1',
  apiKey: 'key',
  headers: { a: 'b' },
  timeouts: { connectMs: 1, firstByteMs: 1, betweenMs: 1 },
};
const model = { ...scriptedRequest().model, provider: 'acme', id: 'small' };

const fakeModel = (id: unknown, by: unknown) => ({ specificationVersion: 'v3', doStream: () => {}, id, by });
const createModel = (exported: object, own: object = {}) =>
  languageModel({ packageName: '@ai-sdk/acme-cloud', exported, endpoint, model, fetch, ...own });

describe('the model of a package', () => {
  it.each([
    ['its factory', { createAcme: (by: unknown) => (id: unknown) => fakeModel(id, by) }],
    ['models of a provider', { createAcme: (by: unknown) => ({ languageModel: (id: unknown) => fakeModel(id, by) }) }],
    ['a promise', { createAcme: (by: unknown) => async (id: unknown) => fakeModel(id, by) }],
    ['the exports of CommonJS', { default: { createAcme: (by: unknown) => (id: unknown) => fakeModel(id, by) } }],
  ])('comes from %s with all settings', async (_what, exported) => {
    expect(await createModel(exported)).toMatchObject({
      id: 'small',
      by: { name: 'acme', apiKey: 'key', baseURL: 'http://127.0.0.1:1', headers: { a: 'b' } },
    });
  });

  it.each([
    ['default export', { default: Object.assign((id: unknown) => fakeModel(id, 'call'), {}) }, 'call'],
    ['provider', { VERSION: '1', acme: { languageModel: (id: unknown) => fakeModel(id, 'acme') } }, 'acme'],
  ])('comes from the %s without a factory', async (_what, exported, by) => {
    expect(await createModel(exported)).toMatchObject({ id: 'small', by });
  });

  it('comes from the factory with the name of the package', async () => {
    const from = (by: string) => () => (id: unknown) => fakeModel(id, by);
    const exported = { createTool: from('tool'), createAcme: from('short'), createAcmeCloud: from('right') };

    expect(await createModel(exported)).toMatchObject({ by: 'right' });
  });

  it('gets only known settings and those of the user', async () => {
    const exported = { createAcme: (by: unknown) => (id: unknown) => fakeModel(id, by) };
    const own = {
      endpoint: {
        ...endpoint,
        baseUrl: '',
        apiKey: undefined,
        headers: {},
        options: { region: 'eu', includeUsage: false },
      },
    };

    expect(await createModel(exported, own)).toMatchObject({
      by: { name: 'acme', headers: {}, region: 'eu', includeUsage: false },
    });
  });

  it.each([
    ['nothing', {}, 'has no language models'],
    ['a factory of something else', { createAcme: () => ({}) }, 'has no language models'],
    ['images only', { createAcme: () => () => ({ specificationVersion: 'v3' }) }, 'has no language models'],
    [
      'models of a later version',
      { createAcme: () => () => ({ specificationVersion: 'v9', doStream: () => {} }) },
      'are of version v9; tau supports v2, v3 and v4',
    ],
  ])('is rejected if the package has %s', async (_what, exported, messageText) => {
    await expect(createModel(exported)).rejects.toThrow(messageText);
  });
});
