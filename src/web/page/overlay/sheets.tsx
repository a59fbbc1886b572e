import { FolderSheet } from '../folders/folder-sheet.tsx';
import { useApp } from '../state/app.ts';

/** What lies over the page, if anything. */
export function Sheets() {
  const { sheet } = useApp();
  switch (sheet.value) {
    case 'folders':
      return <FolderSheet />;
    default:
      return null;
  }
}
