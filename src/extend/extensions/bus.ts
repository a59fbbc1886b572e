import type { ExtensionAPI } from './extension-api.ts';

/** A bus on which extensions speak to each other. */
export function newBus(onFailure: (channel: string, error: unknown) => void): ExtensionAPI['events'] {
  const channels = new Map<string, Set<(data: unknown) => void>>();
  const call = async (channel: string, handler: (data: unknown) => unknown, data: unknown) => {
    try {
      await handler(data);
    } catch (error) {
      onFailure(channel, error);
    }
  };
  return {
    on: (channel, handler) => {
      const handlers = channels.get(channel) ?? new Set();
      channels.set(channel, handlers.add(handler));
      return () => handlers.delete(handler);
    },
    emit: (channel, data) => {
      for (const handler of [...(channels.get(channel) ?? [])]) void call(channel, handler, data);
    },
  };
}
