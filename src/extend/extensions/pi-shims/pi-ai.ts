import { Type } from 'typebox';
import { randomBytes } from '../../../system/random-bytes.ts';
import { AssistantMessageEventStream, createAssistantMessageEventStream, EventStream } from './ai/event-stream.ts';
import { createModelCalls } from './ai/model-calls.ts';
import * as models from './ai/models.ts';
import * as toolArguments from './ai/tool-arguments.ts';
import type { ExtensionEnvironment } from './extension-environment.ts';

/** The exports of `pi-ai`. */
export function piAi(environment: ExtensionEnvironment): object {
  return {
    ...models,
    ...toolArguments,
    ...createModelCalls(environment),
    AssistantMessageEventStream,
    EventStream,
    createAssistantMessageEventStream,
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
