import { useSignalEffect } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { Places } from '../../message/choices.tsx';
import { useApp, useSession } from '../state/app.ts';
import { Activity } from './activity.tsx';
import { EarlierMessages } from './earlier-messages.ts';
import { EarlierRow } from './earlier-row.tsx';
import { JumpButton } from './jump-button.tsx';
import { ListWindow } from './list/list-window.ts';
import { WindowedList } from './list/windowed-list.tsx';
import { estimateHeight } from './rows/guess-height.ts';
import { RowView } from './rows/row-view.tsx';
import type { MessageRow } from './rows/rows.ts';
import { sessionRows } from './rows/session-rows.ts';
import { SearchBar } from './search/search-bar.tsx';

export function MessageList() {
  const app = useApp();
  const session = useSession();
  const rows = useMemo(() => sessionRows(session), [session]);
  const earlier = useMemo(() => new EarlierMessages(session), [session]);
  const list = useMemo(() => new ListWindow<MessageRow>({ estimate: estimateHeight, onNearStart: () => earlier.loadMore() }), [earlier]);
  const draw = useMemo(() => (row: MessageRow) => <RowView row={row} goTo={(key) => list.toRow(key)} />, [list]);
  // A sent message scrolls to the end.
  const sent = useRef(0);
  useSignalEffect(() => {
    const { length } = session.outbox.value;
    if (length > sent.current) list.toEnd();
    sent.current = length;
  });
  return (
    <div class="conversation">
      <p class="for-print note">
        This is the part that was on the screen. Export, in the menu of the session, has all of it.
      </p>
      <Places of={rows}>
        <WindowedList
          label="Conversation"
          window={list}
          rows={rows.value}
          draw={draw}
          head={<EarlierRow earlier={earlier} />}
        />
      </Places>
      <Activity />
      <JumpButton window={list} rows={rows} />
      {app.sheet.value === 'search' && <SearchBar rows={rows} list={list} earlier={earlier} />}
    </div>
  );
}
