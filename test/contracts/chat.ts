/** The contract of the chat of the examples, and of the WebSockets of plugins. The service is `chat/service.ts`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { type Chatting, chatting, isEnd, textIn } from './chat/client.ts'
import type { Deployment } from './runs/client.ts'

export function chatContract(deploy: Deploy): void {
  let server: Deployment
  beforeAll(async () => {
    server = await deploy('')
  })
  afterAll(() => server?.stop())

  const chat = (user?: string) =>
    chatting(server.url, '/api/chat', user === undefined ? {} : { 'x-test-user': user })
  const edge = (path: string, headers = {}) => chatting(server.url, `/edges/${path}`, headers)
  const numbers = (to: number) => Array.from({ length: to }, (_, index) => `${index + 1} `).join('')
  let sessions = 0
  const session = () => `s${++sessions}`

  /** What an agent said to the end. */
  const answerOf = async (talk: Chatting, agent: string, input = 'x', more = {}) => {
    talk.send({ type: 'send', agent, session: session(), input, ...more })
    return talk.until(isEnd)
  }

  describe('a chat', () => {
    it('answers in pieces, with their positions', async () => {
      const talk = await chat()
      const said = await answerOf(talk, 'counting', '5')
      expect(textIn(said)).toBe(numbers(5))
      expect(said[0]).toMatchObject({ type: 'run', stored: true })
      expect(said.slice(1).map(({ at }) => at)).toEqual(said.slice(1).map((_, index) => index + 1))
      talk.close()
    })

    it('asks for an approval, and the run goes on with it', async () => {
      const talk = await chat('ann')
      const waiting = (await answerOf(talk, 'pays')).at(-1)
      const event = waiting?.event
      const [request] = event?.type === 'finish' ? (event.requests ?? []) : []
      expect(request).toMatchObject({ kind: 'approval', toolName: 'pay' })
      const answers = [{ id: request?.id, decision: 'approve' }]
      const other = await chat('bob')
      other.send({ type: 'answer', run: waiting?.run, answers })
      expect((await other.until(() => true))[0]).toMatchObject({ type: 'error', code: 'run_not_found' })
      talk.send({ type: 'answer', run: waiting?.run, answers })
      expect(textIn(await talk.until(isEnd))).toContain('paid')
      talk.close()
      other.close()
    })

    it('stops a run, stored or not', async () => {
      const talk = await chat()
      for (const background of [true, false]) {
        talk.send({ type: 'send', agent: 'endless', session: session(), input: 'x', background })
        const [{ run } = {}] = await talk.until(({ event }) => event?.type === 'text')
        talk.send({ type: 'stop', run })
        await talk.until(({ type }) => type === 'stopped')
      }
      talk.close()
    })

    it('goes on after a reconnection, with no piece lost or doubled', async () => {
      const first = await chat('ann')
      const about = { agent: 'counting', session: session() }
      first.send({ type: 'send', ...about, input: '60' })
      const got = await first.until(({ event }) => event?.type === 'text' && event.text.startsWith('7'))
      first.close()
      await first.closed
      const { run, at: after } = got.at(-1) ?? {}
      const second = await chat('ann')
      // A list may know the run a little later.
      const rest = await expect
        .poll(async () => {
          second.send({ type: 'attach', ...about, run, after })
          const [said] = await second.until(() => true)
          return said?.type
        })
        .toBe('run')
        .then(() => second.until(isEnd))
      expect(textIn([...got, ...rest])).toBe(numbers(60))
      const stranger = await chat('bob')
      stranger.send({ type: 'attach', ...about, run, after })
      expect(await stranger.until(() => true)).toMatchObject([{ type: 'none' }])
      second.close()
      stranger.close()
    })

    it('keeps the sessions and runs of two identities apart, over several sockets', async () => {
      const users = ['eve', 'joe', 'eve']
      const talks = await Promise.all(users.map(chat))
      await Promise.all(talks.map(talk => answerOf(talk, 'counting', '2')))
      for (const [index, user] of users.entries()) {
        const count = users.filter(name => name === user).length
        for (const type of ['runs', 'sessions'] as const) {
          const listed = async () => {
            talks[index]?.send({ type })
            const [page] = (await talks[index]?.until(said => said.type === type)) ?? []
            return (page as unknown as Record<string, readonly unknown[]>)[type]?.length
          }
          await expect.poll(listed).toBe(count)
        }
      }
      for (const talk of talks) talk.close()
    })

    it('tells what is wrong with a message, and goes on', async () => {
      const talk = await chat()
      const wrong = async (message: unknown) => {
        talk.send(message)
        return (await talk.until(({ type }) => type === 'error'))[0]
      }
      expect(await wrong('no JSON')).toMatchObject({ code: 'invalid_body', issues: [{ path: 'message' }] })
      expect(await wrong({ type: 'shout', ref: 'a' })).toMatchObject({ ref: 'a', issues: [{ path: 'type' }] })
      expect(await wrong({ type: 'stop', run: 1 })).toMatchObject({ issues: [{ path: 'run' }] })
      expect(await wrong({ type: 'answer', run: 'x', answers: [{}] })).toMatchObject({
        issues: [{ path: expect.stringMatching(/^answers\.0\b/) }],
      })
      expect(await wrong({ type: 'stop', run: 'x' })).toMatchObject({ code: 'run_not_found' })
      expect(await wrong({ type: 'sessions' })).toMatchObject({ code: 'not_found' })
      expect(await wrong({ type: 'send', agent: 'nobody', session: 's', input: 'x' })).toMatchObject({
        code: 'agent_not_found',
      })
      expect(textIn(await answerOf(talk, 'counting', '2'))).toBe(numbers(2))
      talk.close()
    })

    it('cancels plain runs when the socket closes, down to the signal of the agent', async () => {
      const talk = await chat()
      const asking = await chat()
      const stops = async () => Number(textIn(await answerOf(asking, 'stops', 'x', { background: false })))
      const before = await stops()
      talk.send({ type: 'send', agent: 'endless', session: session(), input: 'x', background: false })
      await talk.until(({ event }) => event?.type === 'text')
      talk.close()
      await expect.poll(stops).toBe(before + 1)
      asking.close()
    })
  })

  describe('a socket of a plugin', () => {
    it('opens first, and handles messages in their order', async () => {
      const socket = await edge('echo')
      const sent = Array.from({ length: 20 }, (_, index) => String(index))
      for (const message of sent) socket.send(message)
      const got = []
      while (got.length < 21) got.push(await socket.next())
      expect(got).toEqual(['hello', ...sent])
      socket.close()
    })

    it('closes for a long message, and for a handler that throws', async () => {
      const long = await edge('echo')
      long.send('x'.repeat(101))
      expect(await long.closed).toBe(1009)
      const thrown = await edge('echo')
      thrown.send('throw')
      expect(await thrown.closed).toBe(1011)
      expect(await (await edge('broken')).closed).toBe(1011)
    })

    it('is refused: one too many, what `open` throws, and pages of other origins', async () => {
      const one = await edge('one')
      await expect(edge('one')).rejects.toThrow('429')
      one.close()
      await one.closed
      const again = await eventually(() => edge('one'))
      again.close()
      await expect(edge('refused')).rejects.toThrow('404')
      const cross = { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' }
      await expect(edge('echo', cross)).rejects.toThrow('403')
    })

    it('says to a plain request that it takes WebSockets', async () => {
      const answer = await fetch(`${server.url}/edges/echo`)
      expect([answer.status, (await answer.json()).code]).toEqual([400, 'invalid_request'])
    })
  })
}
