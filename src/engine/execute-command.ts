import { commandRows } from '../protocol/generated/command-rows.ts';
import type { CommandName, Params, Result } from '../protocol/generated/vocabulary.ts';
import { checkParams } from '../wire/inbound.ts';
import { handlers } from './commands/table.ts';
import type { CommandContext, Handler } from './dispatch.ts';
import { DeferredResponse } from './deferred-response.ts';

type ExecutionTarget = Pick<CommandContext, 'agent' | 'connection' | 'lane'>;

/**
 * Runs a command for a program in this process: validated, in its lane, like one from a client. `handler` replaces the
 * default one. Rejects with the `Refusal` that a client would receive.
 */
export async function executeCommand<C extends CommandName>(
  name: C,
  params: Params<C>,
  target: ExecutionTarget,
  handler: Handler<C> = handlers[name],
): Promise<Result<C>> {
  const refusal = checkParams(name, params);
  if (refusal) throw refusal;
  const after: (() => void)[] = [];
  const context: CommandContext = {
    ...target,
    id: undefined,
    signal: target.lane.signal,
    afterResponse: (work) => void after.push(work),
  };
  const work = () => handler(params, context);
  const result = await (commandRows[name].lane === 'session' ? target.lane.run(work) : work());
  for (const begin of after) begin();
  return result instanceof DeferredResponse ? result.value : result;
}
