import { Modal } from '../../overlay/modal.tsx';
import { useApp } from '../../state/app.ts';
import { keyboard } from './keyboard.ts';
import { keyNames } from './keys.ts';
import { type Shortcut, shortcuts } from './shortcuts.ts';

/** The sheet that lists the shortcuts of this login. */
export function ShortcutsSheet() {
  const app = useApp();
  const offered = shortcuts.filter(({ needs }) => !needs || app.may(needs));
  const groups = [...new Set(offered.map(({ group }) => group))];
  return (
    <Modal
      title="Shortcuts"
      kind="shortcuts"
      onClose={() => {
        app.sheet.value = undefined;
      }}
    >
      <div class="shortcut-groups">
        {groups.map((name) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {offered
                .filter(({ group }) => group === name)
                .map((shortcut) => (
                  <Row key={shortcut.does} shortcut={shortcut} />
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}

const Row = ({ shortcut: { does, keys } }: { readonly shortcut: Shortcut }) => (
  <div class="shortcut">
    <dt>{does}</dt>
    <dd>
      {keyNames(keys, keyboard).map((name) => (
        <kbd key={name}>{name}</kbd>
      ))}
    </dd>
  </div>
);
