import { useComputed } from '@preact/signals';
import { formatDollars } from '../../../format.ts';
import { Popover } from '../../overlay/popover.tsx';
import { useSession } from '../../state/app.ts';
import { fullness, UsagePanel } from './usage-panel.tsx';

/** Shows context usage and cost, and opens the usage panel. */
export function ContextMeter() {
  const session = useSession();
  const isCompacting = useComputed(() => session.view.value.compacting).value;
  const stats = session.stats.value;
  if (!stats?.contextUsage) return null;
  const { percent } = stats.contextUsage;
  const cost = stats.cost > 0 ? formatDollars(stats.cost) : undefined;
  const used = percent === null ? 'unknown until the next answer' : `${Math.round(percent)}% used`;
  const label = `Context: ${isCompacting ? 'is being compacted' : used}${cost === undefined ? '' : `, cost: ${cost}`}`;
  return (
    <Popover
      label={label}
      title="Context and cost"
      button={
        <>
          <Ring percent={percent ?? 0} isBusy={isCompacting} />
          <span>{isCompacting ? 'Compacting…' : percent === null ? '–' : `${Math.round(percent)}%`}</span>
          {cost !== undefined && <span class="cost">{cost}</span>}
        </>
      }
    >
      {() => <UsagePanel />}
    </Popover>
  );
}

interface RingProps {
  readonly percent: number;
  readonly isBusy: boolean;
}

const Ring = ({ percent, isBusy }: RingProps) => (
  <svg class={`ring ${isBusy ? 'busy' : fullness(percent)}`} viewBox="0 0 20 20" aria-hidden="true">
    <circle cx="10" cy="10" r="7.5" />
    <circle
      class="used"
      cx="10"
      cy="10"
      r="7.5"
      pathLength={100}
      stroke-dasharray={`${isBusy ? 30 : Math.min(percent, 100)} 100`}
    />
  </svg>
);
