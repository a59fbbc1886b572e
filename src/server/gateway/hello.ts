import type { Params, Result } from '../../protocol/generated/vocabulary.ts';
import { clampTimeout } from '../../system/with-timeout.ts';
import { Answer } from '../hosting/answer.ts';
import type { Request } from '../sessions.ts';
import type { Client } from './client.ts';
import { MAX_FRAME_BYTES } from './wire.ts';

/** An interval that a timer can keep, and that leaves time for anything else; 0 is none. */
const intervalNear = (wanted: number) => (wanted <= 0 ? 0 : clampTimeout(Math.max(wanted, 10)));

/** Takes note of what one client wants: the agent, which it shares, is only told what concerns them all. */
export function hello(request: Request & Params<'hello'>, client: Client, answered: (answer: Answer) => void): void {
  const { stream, legacyNames, builtins, entries, ui, heartbeatMs } = request;
  const { dialect } = client;
  client.dialect = { ...dialect, stream: stream ?? dialect.stream, legacyNames: legacyNames ?? dialect.legacyNames };
  client.builtins = builtins ?? client.builtins;
  client.ui = ui ?? client.ui;
  if (heartbeatMs !== undefined) client.heartbeatMs = intervalNear(heartbeatMs);
  const isNewReader = entries === true && !client.entries;
  client.entries = entries ?? client.entries;
  const { handle } = client;
  if (isNewReader) handle.follow();
  handle.wantsChanged();
  handle.send({ type: 'hello' }, (answer) => {
    const told = answer.data() as Result<'hello'> | undefined;
    if (!answer.success || !told?.capabilities) {
      answered(answer);
      return;
    }
    const { ui: _ui, ...capabilities } = told.capabilities;
    const own = {
      ...capabilities,
      stream: client.dialect.stream,
      legacyNames: client.dialect.legacyNames,
      builtins: client.builtins,
      entries: client.entries,
      ...(client.ui === undefined ? {} : { ui: client.ui }),
      heartbeatMs: client.heartbeatMs,
    };
    const limits = { ...told.limits, maxLineBytes: Math.min(told.limits.maxLineBytes, MAX_FRAME_BYTES) };
    answered(Answer.success(request.type, { ...told, capabilities: own, limits }));
  });
}
