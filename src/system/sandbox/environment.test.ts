import { describe, expect, it } from 'vitest';
import { confinedEnvironment, withoutProxies } from './environment.ts';

const secrets = {
  AWS_ACCESS_KEY_ID: 'a',
  AWS_PROFILE: 'a',
  BASH_ENV: '/x',
  DBUS_SESSION_BUS_ADDRESS: 'unix:',
  DOCKER_HOST: 'unix:',
  ENV: '/x',
  GH_TOKEN: 'a',
  GITHUB_TOKEN: 'a',
  MY_API_KEY: 'a',
  MYSQL_PWD: 'a',
  NPM_TOKEN: 'a',
  PASSWORD_DB: 'a',
  PGPASSWORD: 'a',
  REDISCLI_AUTH: 'a',
  SSHPASS: 'a',
  SSH_AUTH_SOCK: '/x',
  STRIPE_SECRET_KEY: 'a',
  WAYLAND_DISPLAY: 'a',
  XDG_RUNTIME_DIR: '/x',
  db_password: 'a',
  npm_config__authToken: 'a',
};

describe('confinedEnvironment', () => {
  it('drops credentials and addresses of services, and sets the temporary folder', () => {
    const env = {
      ...secrets,
      PATH: '/bin',
      TERM: 'dumb',
      TMPDIR: '/other',
      KEYBOARD: 'de',
      TOKENIZER: 'x',
      PWD: '/a',
      OLDPWD: '/b',
    };

    expect(confinedEnvironment(env, [])).toEqual({
      PATH: '/bin',
      TERM: 'dumb',
      KEYBOARD: 'de',
      TOKENIZER: 'x',
      PWD: '/a',
      OLDPWD: '/b',
      TMPDIR: '/tmp',
      TMP: '/tmp',
      TEMP: '/tmp',
      npm_config_cache: '/tmp/.npm',
      GOCACHE: '/tmp/.go-build',
      UV_CACHE_DIR: '/tmp/.uv',
    });
  });

  it('keeps the folders of caches that the user has chosen', () => {
    expect(confinedEnvironment({ GOCACHE: '/srv/go' }, [])).toMatchObject({ GOCACHE: '/srv/go' });
  });

  it('keeps what is named', () => {
    expect(confinedEnvironment(secrets, ['AWS_PROFILE', 'GH_TOKEN'])).toMatchObject({
      AWS_PROFILE: 'a',
      GH_TOKEN: 'a',
    });
    expect(Object.keys(confinedEnvironment(secrets, ['AWS_PROFILE', 'GH_TOKEN']))).toHaveLength(8);
  });
});

describe('withoutProxies', () => {
  it('drops the proxies of the user in every spelling', () => {
    const env = {
      HTTP_PROXY: 'a',
      https_proxy: 'a',
      All_Proxy: 'a',
      no_proxy: 'a',
      npm_config_proxy: 'a',
      npm_config_https_proxy: 'a',
      PROXY_X: 'a',
    };

    expect(withoutProxies(env)).toEqual({ PROXY_X: 'a' });
  });
});
