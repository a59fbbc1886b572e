import { Type } from 'typebox';
import { modelAskers } from './ai/ask-model.ts';
import { AssistantMessageEventStream, createAssistantMessageEventStream, EventStream } from './ai/event-stream.ts';
import * as models from './ai/models.ts';
import * as toolArguments from './ai/tool-arguments.ts';
import { uuidv7 } from './ai/uuid.ts';
import type { ExtensionHome } from './extension-home.ts';

/** The names that extensions import from `pi-ai`. */
export function piAi(home: ExtensionHome): object {
  return {
    ...models,
    ...toolArguments,
    ...modelAskers(home),
    AssistantMessageEventStream,
    EventStream,
    createAssistantMessageEventStream,
    Type,
    uuidv7,
  };
}
