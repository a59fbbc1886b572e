import { Type } from 'typebox';
import { randomBytes } from '../../../system/random-bytes.ts';
import { createApiKinds, lazyApi, lazyStream } from './ai/api-kinds.ts';
import { AssistantMessageEventStream, createAssistantMessageEventStream, EventStream } from './ai/event-stream.ts';
import * as jsonText from './ai/json-text.ts';
import * as messageStatus from './ai/message-status.ts';
import { createModelCalls } from './ai/model-calls.ts';
import * as models from './ai/models.ts';
import {
  createBuiltinProviders,
  createModels,
  createProvider,
  defaultProviderAuthContext,
  envApiKeyAuth,
  InMemoryCredentialStore,
  lazyOAuth,
} from './ai/provider-collection.ts';
import * as toolArguments from './ai/tool-arguments.ts';
import * as transcript from './ai/transcript.ts';
import { VERSION } from './coding-agent/paths.ts';
import type { ExtensionEnvironment } from './extension-environment.ts';

/** The exports of `pi-ai`. */
export function piAi(environment: ExtensionEnvironment): object {
  const { ownApi, ...apiKinds } = createApiKinds(environment);
  return {
    ...models,
    ...messageStatus,
    ...toolArguments,
    ...transcript,
    ...jsonText,
    ...apiKinds,
    ...createModelCalls(environment, ownApi),
    ...createBuiltinProviders(environment),
    PI_AI_VERSION: VERSION,
    AssistantMessageEventStream,
    EventStream,
    InMemoryCredentialStore,
    createAssistantMessageEventStream,
    createModels,
    createProvider,
    defaultProviderAuthContext,
    envApiKeyAuth,
    getAllBuiltinModels: models.getModels,
    getBuiltinModel: models.getModel,
    getBuiltinModels: models.getModels,
    getBuiltinProviders: models.getProviders,
    lazyApi,
    lazyOAuth,
    lazyStream,
    Type,
    uuidv7,
  };
}

// A UUID that sorts by creation time (version 7).
function uuidv7(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
