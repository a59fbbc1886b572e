/** The event bus between extensions. A listener that throws does not affect the others. */
export interface EventBus {
  on(channel: string, listener: (data: unknown) => unknown): () => void;
  emit(channel: string, data: unknown): void;
  clear(): void;
}

export function createEventBus(onFailure: (channel: string, error: unknown) => void): EventBus {
  const channels = new Map<string, Set<(data: unknown) => unknown>>();
  const callListener = async (channel: string, listener: (data: unknown) => unknown, data: unknown) => {
    try {
      await listener(data);
    } catch (error) {
      onFailure(channel, error);
    }
  };
  return {
    on: (channel, listener) => {
      const listeners = channels.get(channel) ?? new Set();
      channels.set(channel, listeners.add(listener));
      return () => listeners.delete(listener);
    },
    emit: (channel, data) => {
      for (const listener of [...(channels.get(channel) ?? [])]) void callListener(channel, listener, data);
    },
    clear: () => channels.clear(),
  };
}
