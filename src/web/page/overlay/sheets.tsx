import type { ComponentType } from 'preact';
import { type Sheet, useApp } from '../state/app.ts';
import { lazy } from './lazy.tsx';

// The search is a part of the conversation instead.
const sheets: Readonly<Record<Exclude<Sheet, 'search'>, ComponentType>> = {
  models: lazy(async () => (await import('../controls/pickers/models-sheet.tsx')).ModelsSheet),
  thinking: lazy(async () => (await import('../controls/pickers/thinking-sheet.tsx')).ThinkingSheet),
  shortcuts: lazy(async () => (await import('../controls/shortcuts/shortcuts-sheet.tsx')).ShortcutsSheet),
  credentials: lazy(async () => (await import('../welcome/key-form.tsx')).KeyForm),
  folders: lazy(async () => (await import('../folders/folder-sheet.tsx')).FolderSheet),
};

/** Renders the open sheet. */
export function Sheets() {
  const sheet = useApp().sheet.value;
  const Open = sheet === undefined || sheet === 'search' ? undefined : sheets[sheet];
  return Open ? <Open /> : null;
}
