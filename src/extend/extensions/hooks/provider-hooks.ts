import type { AgentHooks, RequestContext } from '../../../agent/hooks.ts';
import type { SystemMessage } from '../../../model/registry/provider-config.ts';
import type { SessionHooks } from '../../../session/hooks.ts';
import type { ExtensionHost } from '../host.ts';
import { getCurrentSystemPrompt, getCurrentTools } from '../pi-shims/ai/transcript.ts';
import type { HandlerRunner } from './call-handlers.ts';
import { parseMessages, plainCopy } from './validate-results.ts';

/** The hooks around a model request. A hook without a handler is absent. */
export function providerHooks(runner: HandlerRunner, host: ExtensionHost): SessionHooks {
  const hooks: { -readonly [N in keyof AgentHooks]: AgentHooks[N] } = {};
  if (runner.handles('context_with_system')) hooks.requestContext = (context) => rewriteRequest(runner, host, context);
  if (runner.handles('before_provider_headers')) {
    // Handlers change the object in place.
    hooks.requestHeaders = (headers) => runner.notify({ type: 'before_provider_headers', headers });
  }
  if (runner.handles('before_provider_request')) hooks.payload = (payload) => rewritePayload(runner, payload);
  if (runner.handles('after_provider_response')) {
    hooks.responseStart = ({ status, headers }) =>
      runner.notify({ type: 'after_provider_response', status, headers: { ...headers } });
  }
  if (runner.handles('provider_stream_event')) {
    hooks.streamEvent = ({ model: { provider, api, id }, data }) =>
      runner.notify({ type: 'provider_stream_event', provider, api, model: id, data });
  }
  return hooks;
}

async function rewritePayload(runner: HandlerRunner, payload: unknown): Promise<unknown> {
  const event = { type: 'before_provider_request' as const, payload };
  for await (const result of runner.results(event)) event.payload = result;
  return plainCopy(event.payload);
}

// As in pi, handlers may also change the messages in place; the result is validated before it is sent.
async function rewriteRequest(
  runner: HandlerRunner,
  host: ExtensionHost,
  { systemPrompt, tools, messages }: RequestContext,
): Promise<RequestContext | undefined> {
  const toolsAdded = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const system: SystemMessage = { role: 'system', content: systemPrompt, toolsAdded, timestamp: Date.now() };
  const event = { type: 'context_with_system' as const, messages: structuredClone([system, ...messages]) };
  for await (const result of runner.results(event)) {
    if (result.messages) event.messages = result.messages;
  }
  try {
    const changed = plainCopy(event.messages);
    const offered = new Set(getCurrentTools(changed).map(({ name }) => name));
    return {
      systemPrompt: getCurrentSystemPrompt(changed),
      tools: tools.filter(({ name }) => offered.has(name)),
      messages: parseMessages(changed.filter(({ role }) => role !== 'system')),
    };
  } catch (error) {
    host.reportFailure('<runtime>', 'context_with_system', error);
    return undefined;
  }
}
