import { expect, it } from 'vitest';
import { RedirectReceiver } from './redirect-receiver.ts';

it.each(['127.0.0.1', 'localhost', '[::1]'])('[N72] a browser that returns to %s is received', async (host) => {
  const receiver = await RedirectReceiver.listen({ url: `http://${host}/back` });
  const parameters = receiver.receive('s');

  const { status } = await fetch(`${receiver.redirectUrl}?state=s&code=c`);
  receiver.close();

  expect(status).toBe(200);
  expect((await parameters).get('code')).toBe('c');
});
