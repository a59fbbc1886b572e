import { Refusal } from '../../protocol/errors.ts';

/** The compaction was aborted, or a hook cancelled it. */
export class CompactionCancelled extends Refusal {
  constructor() {
    super('agent_busy', 'Compaction cancelled');
  }
}
