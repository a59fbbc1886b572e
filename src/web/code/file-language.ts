const LANGUAGES_BY_NAME: Readonly<Record<string, string>> = {
  '.bashrc': 'bash',
  '.env': 'ini',
  '.gitconfig': 'ini',
  '.npmrc': 'ini',
  '.profile': 'bash',
  '.zshrc': 'bash',
  'cargo.lock': 'toml',
  'nginx.conf': 'nginx',
  containerfile: 'dockerfile',
  gemfile: 'ruby',
  rakefile: 'ruby',
};

/** The language of a file by its name or extension. */
export function fileLanguage(path: string): string {
  const name = path.split(/[/\\]/).at(-1)?.toLowerCase() ?? '';
  if (Object.hasOwn(LANGUAGES_BY_NAME, name)) return LANGUAGES_BY_NAME[name] ?? '';
  return name.includes('.') ? (name.split('.').at(-1) ?? '') : name;
}
