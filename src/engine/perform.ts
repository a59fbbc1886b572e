import { commandRows } from '../protocol/generated/command-rows.ts';
import type { CommandName, Params, Result } from '../protocol/generated/vocabulary.ts';
import { checkParams } from '../wire/inbound.ts';
import { handlers } from './commands/table.ts';
import type { Context, Handler } from './dispatch.ts';
import { LaterAnswer } from './later-answer.ts';

type Peers = Pick<Context, 'agent' | 'connection' | 'lane'>;

/**
 * Does a command for a program in this process: checked, in its turn, and done like one that came over a wire. `handler`:
 * in place of the usual one. Rejects with the `Refusal` that a client would be told.
 */
export async function perform<C extends CommandName>(
  name: C,
  params: Params<C>,
  peers: Peers,
  handler: Handler<C> = handlers[name],
): Promise<Result<C>> {
  const refusal = checkParams(name, params);
  if (refusal) throw refusal;
  const after: (() => void)[] = [];
  const context: Context = {
    ...peers,
    id: undefined,
    signal: peers.lane.signal,
    afterAnswer: (work) => void after.push(work),
  };
  const work = () => handler(params, context);
  const answer = await (commandRows[name].lane === 'session' ? peers.lane.run(work) : work());
  for (const begin of after) begin();
  return answer instanceof LaterAnswer ? answer.value : answer;
}
