import { ModelsSheet } from '../controls/pickers/models-sheet.tsx';
import { ThinkingSheet } from '../controls/pickers/thinking-sheet.tsx';
import { ShortcutsSheet } from '../controls/shortcuts/shortcuts-sheet.tsx';
import { FolderSheet } from '../folders/folder-sheet.tsx';
import { useApp } from '../state/app.ts';
import { KeyForm } from '../welcome/key-form.tsx';

/** What lies over the page, if anything. */
export function Sheets() {
  switch (useApp().sheet.value) {
    case 'models':
      return <ModelsSheet />;
    case 'thinking':
      return <ThinkingSheet />;
    case 'shortcuts':
      return <ShortcutsSheet />;
    case 'credentials':
      return <KeyForm />;
    case 'folders':
      return <FolderSheet />;
    default:
      return null;
  }
}
