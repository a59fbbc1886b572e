import { expect, it } from 'vitest';
import { catalogue } from '../registry/catalogue.ts';
import { providerKeys } from './provider-keys.ts';

it('every provider of the catalogue has a variable for its key', () => {
  expect(catalogue.providers().filter((provider) => !Object.hasOwn(providerKeys, provider))).toEqual([]);
});
