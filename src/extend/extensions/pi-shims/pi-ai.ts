import { Type } from 'typebox';
import { createModelCalls } from './ai/model-calls.ts';
import { AssistantMessageEventStream, createAssistantMessageEventStream, EventStream } from './ai/event-stream.ts';
import * as models from './ai/models.ts';
import * as toolArguments from './ai/tool-arguments.ts';
import { uuidv7 } from './ai/uuid.ts';
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
