import { expect, it } from 'vitest';
import { awsKeySource } from './aws-credentials.ts';

// Missing, so that nothing is requested: it is read after the address was accepted.
const AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE = '/nonexistent/token';

const obtain = (env: Record<string, string>) =>
  awsKeySource({ ...env, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE }).obtain();

it.each([
  'http://127.evil.com/',
  'http://127.0.0.1.evil.com/',
  'http://localhost:x@evil.com/',
  'http://localhost@evil.com/',
  'http://user:password@127.0.0.1/',
  'https://user@credentials.example/',
  'http://169.254.170.254/',
  'ftp://127.0.0.1/',
  'no address',
])('keys of a container are not requested from %s', async (address) => {
  await expect(obtain({ AWS_CONTAINER_CREDENTIALS_FULL_URI: address })).rejects.toThrow('must be an https address');
});

it('keys of a container are not requested from a relative address that names another host', async () => {
  await expect(obtain({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '@evil.com/' })).rejects.toThrow('must be an https');
});

it.each([
  'https://credentials.example/role',
  'http://localhost/role',
  'http://localhost:8080/role',
  'http://127.1.2.3:80/role',
  'http://[::1]:8080/role',
  'http://169.254.170.2/role',
  'http://169.254.170.23/v1/credentials',
  'http://[fd00:ec2::23]/v1/credentials',
])('keys of a container may be requested from %s', async (address) => {
  await expect(obtain({ AWS_CONTAINER_CREDENTIALS_FULL_URI: address })).rejects.toThrow('ENOENT');
});
