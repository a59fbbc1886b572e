import { messageOf } from '../../../../protocol/errors.ts';

type Listener = (data: unknown) => unknown;

/** Channels on which extensions speak to each other. A listener that fails disturbs nobody. */
export function createEventBus() {
  const channels = new Map<string, Set<Listener>>();
  return {
    emit(channel: string, data: unknown): void {
      for (const listener of [...(channels.get(channel) ?? [])]) void tell(listener, channel, data);
    },
    on(channel: string, listener: Listener): () => void {
      const listeners = channels.get(channel) ?? new Set();
      channels.set(channel, listeners.add(listener));
      return () => void listeners.delete(listener);
    },
    clear: (): void => channels.clear(),
  };
}

async function tell(listener: Listener, channel: string, data: unknown): Promise<void> {
  try {
    await listener(data);
  } catch (error) {
    process.stderr.write(`tau: a listener of ${channel} failed: ${messageOf(error)}\n`);
  }
}
