/** What happens to a call whose client leaves, or does not want it any more. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { own, type Server } from '../runs/client.ts'
import {
  type Asked,
  ask,
  begin,
  callOf,
  fateOf,
  hear,
  open,
  type Session,
  TASKS,
  told,
  untilTold,
} from './client.ts'

export function leavingCases(server: Server): void {
  describe.concurrent('a client that leaves', () => {
    const stream = (can: object, meta: object) => async (input: string) => {
      const leaving = new AbortController()
      const asked: Asked = { can, meta, signal: leaving.signal }
      const response = ask(server, 'tools/call', callOf('chatters', input), asked)
      // Without progress it is the head of the stream that comes.
      if ('progressToken' in meta) await (await hear(response)).next()
      else expect((await response).headers.get('content-type')).toBe('text/event-stream')
      leaving.abort()
    }

    it.each([
      ['a stream with progress', stream({}, { progressToken: 1 })],
      ['a stream without', stream({}, {})],
      ['a stream before it is a task', stream(TASKS, { progressToken: 1 })],
    ])('stops the run of %s', async (_, leave) => {
      const input = own('left')
      await leave(input)
      await untilTold(server, input, 'stopped')
    })

    it.each([
      ['JSON', {}],
      ['JSON before it is a task', TASKS],
    ])('stops the run of %s', async (_, can) => {
      const input = own('left')
      const leaving = new AbortController()
      const asked: Asked = { can, accept: 'application/json', signal: leaving.signal }
      const answer = ask(server, 'tools/call', callOf('gated', input), asked)
      await untilTold(server, input, 'started')
      leaving.abort()
      await expect(answer).rejects.toThrow()
      // workerd does not report a client that leaves before the head of the answer, and Deno does so at times only.
      const isReported = /^(node|bun)$/.test(server().runtime)
      if (!isReported) await open(server, input)
      await eventually(async () =>
        expect(await fateOf(server, input)).toMatch(isReported ? /^stopped$/ : /^(stopped|ended)$/),
      )
    })

    it('of a session stops the run of its stream', async () => {
      const input = own('left')
      const leaving = new AbortController()
      const asked = { meta: { progressToken: 1 }, signal: leaving.signal }
      const { next } = await hear((await begin(server)).call('chatters', input, asked))
      await next()
      leaving.abort()
      await untilTold(server, input, 'stopped')
    })
  })

  describe.concurrent('a session', () => {
    const cancel = (session: Session, requestId: unknown) =>
      session.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })

    it.each(['application/json', 'text/event-stream'])(
      'cancels its call, and none of another one: %s',
      async accept => {
        const [mine, other] = [await begin(server), await begin(server)]
        const [first, second] = [own('first'), own('second')]
        const asked = { id: 'same', accept }
        const [cancelled, kept] = [
          told(mine.call('gated', first, asked)),
          told(other.call('gated', second, asked)),
        ]
        await untilTold(server, first, 'started')
        await untilTold(server, second, 'started')
        for (const id of ['none', 1, undefined, '__proto__']) await cancel(mine, id)
        expect([await fateOf(server, first), await fateOf(server, second)]).toEqual(['started', 'started'])
        expect((await cancel(mine, 'same')).status).toBe(202)
        await untilTold(server, first, 'stopped')
        await cancelled
        await open(server, second)
        expect((await kept).json.result.content).toEqual([{ type: 'text', text: 'First and last.' }])
        expect(await fateOf(server, second)).toBe('ended')
      },
    )
  })
}
