import { useComputed } from '@preact/signals';
import type { ContextUsage, SessionStats } from '../../../../protocol/generated/vocabulary.ts';
import { formatDollars, formatTokens } from '../../../format.ts';
import { setAutoCompaction } from '../../actions/compaction.ts';
import { useApp, useSession } from '../../state/app.ts';
import { CompactForm } from './compact-form.tsx';

/** Context usage, token totals and compaction of the session. */
export function UsagePanel() {
  const session = useSession();
  const stats = session.stats.value;
  const mayChange = useApp().may('prompt');
  const isAutomatic = useComputed(() => session.view.value.state.autoCompactionEnabled).value;
  if (!stats) return null;
  return (
    <div class="usage">
      {stats.contextUsage && <Fullness usage={stats.contextUsage} />}
      <Totals stats={stats} />
      {mayChange && (
        <>
          <label class="check">
            <input
              type="checkbox"
              checked={isAutomatic === true}
              onChange={({ currentTarget: { checked } }) => void setAutoCompaction(session, { enabled: checked })}
            />
            Compact by itself when nearly full
          </label>
          <CompactForm />
        </>
      )}
    </div>
  );
}

function Fullness({ usage: { tokens: used, contextWindow, percent } }: { readonly usage: ContextUsage }) {
  if (used === null || percent === null)
    return <p class="note">How full the context is will be known with the next answer.</p>;
  return (
    <div class="fullness">
      <p>
        <strong>{formatTokens(used)}</strong> of {formatTokens(contextWindow)} tokens{' '}
        <span class="note">{Math.round(percent)}%</span>
      </p>
      <div class={`bar ${fullness(percent)}`}>
        <div style={{ width: `${Math.min(percent, 100)}%` }} />
      </div>
    </div>
  );
}

const Totals = ({ stats: { tokens: used, cost, totalMessages, toolCalls } }: { readonly stats: SessionStats }) => (
  <dl class="totals">
    <dt>Cost</dt>
    <dd>{cost > 0 ? formatDollars(cost) : 'nothing'}</dd>
    <dt>Tokens in</dt>
    <dd>{formatTokens(used.input)}</dd>
    <dt>Tokens out</dt>
    <dd>{formatTokens(used.output)}</dd>
    {used.cacheRead + used.cacheWrite > 0 && (
      <>
        <dt>Cached</dt>
        <dd>
          {formatTokens(used.cacheRead)} read, {formatTokens(used.cacheWrite)} written
        </dd>
      </>
    )}
    <dt>Messages</dt>
    <dd>{totalMessages.toLocaleString('en')}</dd>
    <dt>Tool calls</dt>
    <dd>{toolCalls.toLocaleString('en')}</dd>
  </dl>
);

// Percentages from which the context counts as nearly full and full.
const NEARLY_FULL = 70;
const FULL = 90;

/** Returns the CSS class for a context usage in percent. */
export const fullness = (percent: number): 'full' | 'nearly-full' | 'roomy' =>
  percent >= FULL ? 'full' : percent >= NEARLY_FULL ? 'nearly-full' : 'roomy';
