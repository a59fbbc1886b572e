import { Refusal } from '../../protocol/errors.ts';

/** A compaction that somebody stopped, or did not want. */
export class CompactionCancelled extends Refusal {
  constructor() {
    super('agent_busy', 'Compaction cancelled');
  }
}
