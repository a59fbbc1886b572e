type Environment = Readonly<Record<string, string | undefined>>;

// Credentials, and addresses of services that act for the user.
const DROPPED = new Set([
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'NPM_TOKEN',
  'NODE_AUTH_TOKEN',
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GPG_AGENT_INFO',
  'XDG_RUNTIME_DIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'DOCKER_HOST',
  'BASH_ENV',
  'ENV',
]);

const DROPPED_GROUPS = /^(AWS|DBUS)_/;

// Names by which other programs hand over secrets.
const SECRET = /(^|_)(TOKEN|SECRET|(?:PG)?PASSWORD|PASSWD|PASS|KEY|APIKEY|CREDENTIALS?|DSN)$/i;

// A proxy of the user is out of reach; the sandbox names its own.
const PROXIES = /^(http|https|ftp|all|no)_proxy$|^npm_config_(http_?|https_)?proxy$|^npm_config_noproxy$/i;

const PRIVATE_TMP = { TMPDIR: '/tmp', TMP: '/tmp', TEMP: '/tmp' };

/** The environment of a confined command. `passed`: variables that stay although they look like secrets. */
export function confinedEnvironment(env: Environment, passed: readonly string[]): Environment {
  const kept = Object.entries(env).filter(([name]) => passed.includes(name) || !isDropped(name));
  return { ...Object.fromEntries(kept), ...PRIVATE_TMP };
}

/** The environment without the user's proxies. */
export const withoutProxies = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !PROXIES.test(name)));

const isDropped = (name: string) => DROPPED.has(name) || DROPPED_GROUPS.test(name) || SECRET.test(name);
