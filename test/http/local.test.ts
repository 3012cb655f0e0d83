/** Who visits a development server on this machine. `test/runtimes/hosts.test.ts` asks real ones. */
import { describe, expect, it } from 'vitest'
import { bearerAuth, createHandler, type Handler, type HandlerOptions, platform } from '../../src/index.ts'
import { serveOn } from '../../src/runtimes/server.ts'
import { speaker } from '../support.ts'

/** Serves on addresses without listening there. */
async function servedOn(handler: Handler, ...hostnames: string[]): Promise<void> {
  const listening = { port: 1, stop: async () => {}, cut: async () => {} }
  for (const hostname of hostnames) await serveOn(() => listening, handler, { hostname })
}

/** Who asks, as the service sees them. */
async function seen(options: HandlerOptions, ...hostnames: string[]) {
  let id: string | undefined
  const handler = createHandler({
    agents: { echo: speaker('echo', 'x') },
    registry: false,
    logger: false,
    production: false,
    ...options,
    middleware: [
      ...(options.middleware ?? []),
      (_, context, next) => {
        id = context.identity?.id
        return next()
      },
    ],
  })
  await servedOn(handler, ...hostnames)
  const request = new Request('http://localhost:3000/api/runs')
  const { status } = await handler(request, platform({ ip: '127.0.0.1' }))
  return { id, status }
}

describe('a development server', () => {
  it.each(['127.0.0.1', 'localhost', '::1'])('knows its visitors if it listens on %s', async hostname => {
    expect(await seen({}, hostname)).toEqual({ id: 'local', status: 200 })
  })

  it.each([['0.0.0.0'], ['::'], ['192.168.1.7'], ['127.0.0.1', '0.0.0.0'], ['0.0.0.0', '127.0.0.1']])(
    'knows nobody if it listens on %s, %s',
    async (...hostnames) => {
      expect(await seen({}, ...hostnames)).toEqual({ id: undefined, status: 404 })
    },
  )

  it('knows nobody in production, and nobody without a server of this package', async () => {
    expect((await seen({ production: true }, '127.0.0.1')).id).toBeUndefined()
    expect((await seen({})).id).toBeUndefined()
  })

  it('leaves it to ready-made authentication, and to middleware that identifies or refuses', async () => {
    const withToken = await seen({ middleware: [bearerAuth({ tokens: { t: 'ada' } })] }, '127.0.0.1')
    expect(withToken).toEqual({ id: undefined, status: 401 })
    const identified = await seen(
      {
        middleware: [
          (_, context, next) => {
            context.identity = { id: 'ada' }
            return next()
          },
        ],
      },
      '127.0.0.1',
    )
    expect(identified).toEqual({ id: 'ada', status: 200 })
    const refused = await seen({ middleware: [() => new Response('no', { status: 418 })] }, '127.0.0.1')
    expect(refused).toEqual({ id: undefined, status: 418 })
  })
})
