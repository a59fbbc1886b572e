import { join } from 'node:path';

// Below the home folder. Secrets of programs that tau's commands seldom need; `sandbox.hidden` adds others.
const CREDENTIALS = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
  '.azure',
  '.docker',
  '.config/gh',
  '.config/glab-cli',
  '.config/containers',
  '.vault-token',
  '.m2/settings.xml',
  '.gem/credentials',
  '.claude',
  '.codex',
  '.config/hub',
  '.config/gcloud',
  '.config/op',
  '.config/git/credentials',
  '.netrc',
  '.pgpass',
  '.pypirc',
  '.git-credentials',
  '.password-store',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.terraform.d/credentials.tfrc.json',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  'Library/Keychains',
];

// Cookies are sessions of the user.
const BROWSER_PROFILES = [
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/opera',
  '.config/vivaldi',
  '.var/app/org.mozilla.firefox',
  '.var/app/com.google.Chrome',
  '.var/app/org.chromium.Chromium',
  'snap/firefox',
  'snap/chromium',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/Firefox',
  'Library/Cookies',
  'Library/Safari',
];

/** The files and folders that no command of a sandbox can read, whether they exist or not. */
export const alwaysHidden = (home: string): string[] =>
  [...CREDENTIALS, ...BROWSER_PROFILES].map((name) => join(home, name));
