import { expect, it } from 'vitest'
import { createHandler, type LogEntry, memoryState } from '../../../../src/index.ts'
import { eventually } from '../../../eventually.ts'
import { connect } from './wire.ts'

const SECRET = 'open-sesame'

function inTheAgent(): never {
  throw new TypeError(`inside ${SECRET}`)
}

function serve() {
  const entries: LogEntry[] = []
  const requests: LogEntry[] = []
  const handler = createHandler({
    production: true,
    registry: false,
    agents: { a: { run: async () => inTheAgent() } },
    state: memoryState(),
    gateway: true,
    logger(entry) {
      if (entry.event === 'request') requests.push(entry)
      else if (entry.level === 'error') entries.push(entry)
    },
  })
  return { entries, requests, handler }
}

it.each([
  ['a plain one', { apiKey: SECRET }],
  ['a stored one', { apiKey: SECRET, background: true }],
])('a run over a socket that fails is told with the request that opened the socket: %s', async (_, how) => {
  const { entries, requests, handler } = serve()
  const wire = await connect(handler)
  wire.says(JSON.stringify({ event: 'agent.run', data: { name: 'a', input: 'hi', ...how } }))
  await eventually(() => expect(wire.got.join()).toContain('agent.error'))
  expect(wire.got.join()).not.toMatch(/inside|failures\.test/)
  expect(entries).toMatchObject([
    {
      event: 'run.failed',
      requestId: requests[0]?.requestId,
      error: { stack: expect.stringContaining('inTheAgent') },
    },
  ])
  expect(JSON.stringify(entries)).not.toContain(SECRET)
})

it('what `authenticate` of the socket throws is told, and refuses', async () => {
  const entries: LogEntry[] = []
  const handler = createHandler({
    production: true,
    registry: false,
    gateway: { authenticate: inTheAgent },
    logger: entry => void (entry.level === 'error' && entries.push(entry)),
  })
  const wire = await connect(handler)
  wire.says(JSON.stringify({ event: 'connect', data: { token: SECRET } }))
  await eventually(() => expect(wire.got.join()).toContain('connect_error'))
  expect(entries).toMatchObject([
    { event: 'socket.failed', requestId: expect.any(String), error: { name: 'TypeError' } },
  ])
  expect(JSON.stringify(entries)).not.toContain(SECRET)
})
