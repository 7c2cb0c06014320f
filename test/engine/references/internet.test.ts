import { once } from 'node:events';
import { connect, createServer, Socket, type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { expect, test } from '@jest/globals';
import { enterSmallInternet, startSmallInternet } from '../../support/internet/small-internet.ts';
import { isForbidden } from '../../support/internet/socket-spy.ts';

test('every way to open a connection is seen, and only those to the small internet go anywhere', async () => {
  const net = await startSmallInternet();
  let heard = 0;
  const own = createServer((socket) => {
    heard += 1;
    socket.on('error', () => undefined).destroy();
  }).listen(0, '127.0.0.1');
  await once(own, 'listening');
  const { port } = own.address() as AddressInfo;
  const home = enterSmallInternet(net.access);
  net.dns.set('trap.example', ['127.0.0.1', '::1']);
  const attempts = [
    () => connect(port, '127.0.0.1'),
    () => connect({ port, host: 'localhost' }),
    () => connect(port),
    () => connect('/run/some.sock'),
    () => connect({ path: '/run/some.sock' }),
    () => new Socket().connect(port, '::1'),
    () => new Socket().connect({ port, host: 'trap.example' }),
    () => tls.connect(port, '127.0.0.1'),
    () => tls.connect({ port: 443, host: '10.0.0.1' }),
  ];
  for (const attempt of attempts) {
    const [error] = await once(home.within(attempt), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED', syscall: 'connect' });
  }
  const fetched = await home
    .within(() => fetch(`http://127.0.0.1:${port}/`))
    .catch((error: Error) => error.cause);
  expect(fetched).toMatchObject({ code: 'ECONNREFUSED' });
  home.leave();
  await net.close();
  own.close();
  expect(heard).toBe(0);
  const asked = home.destinations.map(
    ({ host, port: to, outcome }) => `${outcome} ${host}${to === port ? '' : ` ${to}`}`,
  );
  expect(asked.join(', ')).toBe(
    'refused 127.0.0.1, name localhost, refused 127.0.0.1, name localhost, refused 127.0.0.1, ' +
      'name /run/some.sock 0, name /run/some.sock 0, refused ::1, ' +
      'name trap.example, refused 127.0.0.1, refused ::1, refused 127.0.0.1, refused 10.0.0.1 443, refused 127.0.0.1',
  );
});

test('a late connection of another test file is refused and not counted; one of the own work is counted', async () => {
  const net = await startSmallInternet();
  const later = Promise.withResolvers<void>();
  const knockLater = async (host: string) => {
    await later.promise;
    const [error] = await once(connect(443, host), 'error');
    return error as Error;
  };
  // What a test file left behind that ran before in this process.
  const foreign = knockLater('10.0.0.1');
  const home = enterSmallInternet(net.access);
  const own = home.within(() => knockLater('10.0.0.2'));
  later.resolve();
  const errors = await Promise.all([foreign, own]);
  home.leave();
  await net.close();
  const refused = { code: 'ECONNREFUSED', syscall: 'connect' };
  expect(errors).toMatchObject([refused, refused]);
  expect(home.destinations.filter(isForbidden)).toMatchObject([{ host: '10.0.0.2' }]);
  expect(home.sockets).toHaveLength(1);
});
