/** What happens to a run whose client leaves, and to one that has none. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { readStrictly } from '../../protocols/openai/response-stream.ts'
import { jsonRequest } from '../http/client.ts'
import { own, type Server } from '../runs/client.ts'
import {
  expectError,
  get,
  idOf,
  kept,
  leaveAfter,
  open,
  respond,
  said,
  send,
  streamed,
  untilTold,
} from './client.ts'

/** Requests that hold a run: none is kept, but for the last. */
const KINDS: readonly ((word: string, model: string) => { readonly path: string; readonly body: object })[] =
  [
    (word, model) => ({
      path: 'chat/completions',
      body: { model, messages: [{ role: 'user', content: word }] },
    }),
    (word, model) => ({ path: 'responses', body: { model, input: word, store: false } }),
    (word, model) => ({ path: 'responses', body: { model, input: word } }),
  ]

export function leavingCases(server: Server): void {
  describe('a client that leaves', () => {
    it('a stream stops its run, and what is kept tells so', async () => {
      const ids = await Promise.all(
        KINDS.map(async each => {
          const word = own('left')
          const { path, body } = each(word, 'chatters')
          const runId = await leaveAfter(server, path, body, 'First ')
          await untilTold(server, word, 'stopped')
          return idOf(runId)
        }),
      )
      await eventually(async () => {
        const { status, output } = await kept(server, ids[2] ?? '')
        expect([status, output.length]).toEqual(['cancelled', 1])
      })
    })

    it('JSON stops its run', async () => {
      // workerd does not report a client that leaves before the head of the answer.
      const fate = server().runtime === 'workerd' ? 'ended' : 'stopped'
      for (const each of KINDS) {
        const word = own('left')
        const { path, body } = each(word, 'gated')
        const leaving = new AbortController()
        const init = { ...jsonRequest(body), signal: leaving.signal }
        const asked = fetch(`${server().url}/v1/${path}`, init)
        await untilTold(server, word, 'started')
        leaving.abort()
        await expect(asked).rejects.toThrow()
        if (fate === 'ended') await open(server, word)
        await untilTold(server, word, fate)
      }
    })

    it('a response in the background stops nothing, and comes back in its middle', async () => {
      const word = own('kept')
      const body = { model: 'gated', input: word, background: true }
      const id = idOf(await leaveAfter(server, 'responses', body, 'First '))
      const reading = get(server, `responses/${id}?stream=true`)
      const resuming = get(server, `responses/${id}?stream=true&starting_after=4`)
      await open(server, word)
      const [{ text: whole }, { text: rest }] = await Promise.all([reading, resuming])
      const response = readStrictly(whole)
      expect([response.status, said(response)]).toEqual(['completed', 'First and last.'])
      expect(whole.split('\n\n').slice(5).join('\n\n')).toBe(rest)
      expect(await kept(server, id)).toEqual(response)
      await untilTold(server, word, 'ended')
    })
  })

  describe('a response in the background', () => {
    it('is queued, then at work, then read', async () => {
      const word = own('polled')
      const body = { model: 'gated', input: word, background: true }
      const { json: queued, headers } = await send(server, 'responses', body)
      expect(queued.id).toBe(idOf(headers.get('x-run-id') ?? ''))
      expect(queued).toMatchObject({ status: 'queued', output: [], background: true, store: true })
      await untilTold(server, word, 'started')
      expect(await kept(server, queued.id)).toMatchObject({ status: 'in_progress', background: true })
      await open(server, word)
      await eventually(async () => {
        const { status, ...response } = await kept(server, queued.id)
        expect([status, said({ status, ...response } as never)]).toEqual(['completed', 'First and last.'])
      })
    })

    it('is cancelled, also once it is over', async () => {
      const word = own('cancelled')
      const { id } = await respond(server, 'gated', word, { background: true })
      await untilTold(server, word, 'started')
      const reading = get(server, `responses/${id}?stream=true`)
      const cancel = () => send(server, `responses/${id}/cancel`, {})
      const first = await cancel()
      expect([first.status, first.json.id, first.json.error]).toEqual([200, id, null])
      await untilTold(server, word, 'stopped')
      await eventually(async () => expect((await kept(server, id)).status).toBe('cancelled'))
      const { text } = await reading
      expect(readStrictly(text).status).toBe('cancelled')
      expect(text).toContain('event: response.incomplete')
      expect((await cancel()).json).toEqual(await kept(server, id))
    })

    it('alone is cancelled, and must be kept', async () => {
      const { response } = await streamed(server, 'talks', 'x')
      expectError(await send(server, `responses/${response.id}/cancel`, {}), [400, 'invalid_request'])
      const body = { model: 'talks', input: 'x', background: true, store: false }
      expect(expectError(await send(server, 'responses', body), [400, 'invalid_body']).param).toBe('store')
    })
  })
}
