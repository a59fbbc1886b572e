import { describe, expect, it } from 'vitest';
import { scriptedRequest } from '../../scripted/testing/call.ts';
import { azureAddress, deploymentOf } from './address.ts';

const addressOf = (env: Record<string, string>, operation: 'responses' | 'chat/completions' = 'responses') => {
  const { baseUrl, path } = azureAddress({ env, baseUrl: '', operation, deployment: 'my gpt' });
  return baseUrl + path;
};

describe('the address of a resource in Azure', () => {
  it.each([
    ['https://x.openai.azure.com', 'https://x.openai.azure.com/openai/v1/responses'],
    ['https://x.openai.azure.com/', 'https://x.openai.azure.com/openai/v1/responses'],
    ['https://x.openai.azure.com/openai', 'https://x.openai.azure.com/openai/v1/responses'],
    [
      'https://x.cognitiveservices.azure.com/openai/v1/responses?api-version=preview',
      'https://x.cognitiveservices.azure.com/openai/v1/responses',
    ],
    ['https://x.services.ai.azure.com/openai/v1/', 'https://x.services.ai.azure.com/openai/v1/responses'],
    ['https://gate.example.com/azure/', 'https://gate.example.com/azure/responses'],
    ['https://gate.example.com/azure/?team=a%20b', 'https://gate.example.com/azure/responses?team=a%20b'],
    ['https://gate.example.com/azure#part', 'https://gate.example.com/azure/responses'],
    [
      'https://gate.example.com/azure?api-version=2024-10-21',
      'https://gate.example.com/azure/responses?api-version=2024-10-21',
    ],
  ])('%s becomes %s', (given, expected) => {
    expect(addressOf({ AZURE_OPENAI_BASE_URL: given })).toBe(expected);
  });

  it('follows from the name of the resource', () => {
    expect(addressOf({ AZURE_OPENAI_RESOURCE_NAME: 'mine' })).toBe('https://mine.openai.azure.com/openai/v1/responses');
  });

  it('of a dated version has the deployment in the path of chat completions', () => {
    const env = { AZURE_OPENAI_RESOURCE_NAME: 'mine', AZURE_OPENAI_API_VERSION: '2025-04-01-preview' };

    expect(addressOf(env)).toBe('https://mine.openai.azure.com/openai/responses?api-version=2025-04-01-preview');
    expect(addressOf(env, 'chat/completions')).toBe(
      'https://mine.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2025-04-01-preview',
    );
  });

  it.each([
    ['?team=a%20b', '?team=a%20b&api-version=preview'],
    ['?api-version=2024-10-21&team=ab', '?team=ab&api-version=preview'],
  ])('with the query %s gets the version %s', (query, expected) => {
    const env = {
      AZURE_OPENAI_BASE_URL: `https://gate.example.com/azure${query}`,
      AZURE_OPENAI_API_VERSION: 'preview',
    };

    expect(addressOf(env)).toBe(`https://gate.example.com/azure/responses${expected}`);
  });

  it('is required', () => {
    expect(() => addressOf({})).toThrow('Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME');
    expect(() => addressOf({ AZURE_OPENAI_BASE_URL: 'nonsense' })).toThrow('Set AZURE_OPENAI_BASE_URL');
  });
});

it.each([
  ['', 'gpt'],
  ['gpt=mine', 'mine'],
  ['other=x, gpt = mine ,', 'mine'],
  ['gpt=', 'gpt'],
  ['gpt', 'gpt'],
])('the map %j has the deployment', (map, expected) => {
  const model = { ...scriptedRequest().model, id: 'gpt' };

  expect(deploymentOf(model, { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: map })).toBe(expected);
});
