import { readFile } from 'node:fs/promises';
import { isObject } from '../../protocol/json.ts';
import { readVariable } from '../../store/config-value.ts';
import { readCredentialCommand } from '../../store/credential-command.ts';
import type { Environment, ExpiringValue } from './credential-cache.ts';
import { requestToken, requestTokenFields } from './request-token.ts';
import type { AwsKeys } from './sigv4.ts';

// The shell expands the name of the profile, whatever signs it has.
const EXPORT_COMMAND = 'aws configure export-credentials --profile "$AWS_PROFILE" --format process';

// Containers of ECS have their credentials at this address.
const CONTAINER_HOST = 'http://169.254.170.2';

/** The keys of an AWS account, and what identifies it. */
export interface AwsKeySource {
  readonly key: string;
  readonly obtain: () => Promise<ExpiringValue<AwsKeys>>;
}

/**
 * Where the keys for AWS are, by the variables of the environment: a profile, whose keys the command `aws` exports, with
 * single sign-on and roles; then fixed keys; then those of a container; then a web identity.
 */
export function awsKeySource(env: Environment): AwsKeySource {
  const { AWS_PROFILE: profile, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (profile) return { key: JSON.stringify(['profile', profile]), obtain: () => keysOfProfile(env) };
  if (accessKeyId && secretAccessKey) {
    const value = { accessKeyId, secretAccessKey, sessionToken: readVariable(env, 'AWS_SESSION_TOKEN') };
    return { key: JSON.stringify(['keys', value]), obtain: async () => ({ value, expiresAt: undefined }) };
  }
  const address = containerAddress(env);
  if (address) return { key: JSON.stringify(['container', address]), obtain: () => keysOfContainer(address, env) };
  const file = readVariable(env, 'AWS_WEB_IDENTITY_TOKEN_FILE');
  if (file) return { key: JSON.stringify(['web', file, env['AWS_ROLE_ARN']]), obtain: () => keysOfRole(file, env) };
  return { key: 'none', obtain: () => Promise.reject(new Error(NO_CREDENTIALS)) };
}

const NO_CREDENTIALS =
  'No credentials for AWS: set AWS_PROFILE, AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';

// Keys of the process would win over the profile.
function keysOfProfile(env: Environment): Promise<ExpiringValue<AwsKeys>> {
  const { AWS_ACCESS_KEY_ID: _id, AWS_SECRET_ACCESS_KEY: _key, AWS_SESSION_TOKEN: _token, ...own } = env;
  return readCredentialCommand(EXPORT_COMMAND, own, (output) => keysIn(JSON.parse(output)));
}

function containerAddress(env: Environment): string | undefined {
  const relative = readVariable(env, 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  return relative ? CONTAINER_HOST + relative : readVariable(env, 'AWS_CONTAINER_CREDENTIALS_FULL_URI');
}

async function keysOfContainer(url: string, env: Environment): Promise<ExpiringValue<AwsKeys>> {
  // The token below must not cross a network in plain text.
  if (!isPrivateAddress(url))
    throw new Error('AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https address, or one of this machine');
  const file = readVariable(env, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  const token = file ? (await readFile(file, 'utf8')).trim() : readVariable(env, 'AWS_CONTAINER_AUTHORIZATION_TOKEN');
  return keysIn(await requestTokenFields({ url, headers: token ? { authorization: token } : {} }));
}

/** Whether a request crosses no network in plain text: by https, or to this machine or its agents of ECS and EKS. */
function isPrivateAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOCAL_HOST.test(hostname));
}

// As `URL` writes them: an address of four numbers has no other form.
const LOCAL_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

async function keysOfRole(file: string, env: Environment): Promise<ExpiringValue<AwsKeys>> {
  const region = readVariable(env, 'AWS_REGION') ?? readVariable(env, 'AWS_DEFAULT_REGION') ?? 'us-east-1';
  const host = readVariable(env, 'AWS_ENDPOINT_URL_STS') ?? `https://sts.${region}.amazonaws.com`;
  const role = readVariable(env, 'AWS_ROLE_ARN');
  if (!role) throw new Error('AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not');
  const xml = await requestToken({
    url: `${host.replace(/\/+$/, '')}/`,
    form: {
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role,
      RoleSessionName: readVariable(env, 'AWS_ROLE_SESSION_NAME') ?? 'tau',
      WebIdentityToken: (await readFile(file, 'utf8')).trim(),
    },
  });
  const names = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'];
  return keysIn(Object.fromEntries(names.map((name) => [name, new RegExp(`<${name}>([^<]*)</`).exec(xml)?.[1]])));
}

/** The keys in an object with AWS's names. Throws if one is missing. */
function keysIn(value: unknown): ExpiringValue<AwsKeys> {
  const { AccessKeyId, SecretAccessKey, SessionToken, Token, Expiration } = isObject(value) ? value : {};
  if (typeof AccessKeyId !== 'string' || typeof SecretAccessKey !== 'string') throw new Error('AWS sent no access key');
  const sessionToken = [SessionToken, Token].find((token) => typeof token === 'string');
  const expiresAt = typeof Expiration === 'string' ? Date.parse(Expiration) : Number.NaN;
  return {
    value: {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      ...(typeof sessionToken === 'string' ? { sessionToken } : {}),
    },
    expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt,
  };
}
