/** Every kind of answer of a remote agent, in one way. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { jsonRequest, messagesOf, type Server, stream } from '../http/client.ts'
import { came, DATA, FILE, waits } from './doings.ts'
import { WAYS } from './ways.ts'

interface Result {
  readonly text: string
  readonly finishReason: string
  readonly runId: string
  readonly message?: unknown
  readonly artifacts?: readonly unknown[]
  readonly steps?: readonly unknown[]
  readonly requests?: readonly { readonly id: string; readonly kind: string; readonly message: string }[]
  readonly code?: string
  readonly error?: string
}

/** Asks an agent, and gives its result. */
export async function ask(server: Server, name: string, body: object): Promise<Result> {
  const response = await fetch(`${server().url}/api/agents/${name}/run`, jsonRequest(body))
  return (await response.json()) as Result
}

async function answer(server: Server, { requests, runId }: Result, given: object): Promise<Result> {
  const answers = requests?.map(({ id }) => ({ id, ...given }))
  const response = await fetch(`${server().url}/api/runs/${runId}/answers`, jsonRequest({ answers }))
  return (await response.json()) as Result
}

/** The cases of one way. */
export function kindCases(name: string, server: Server): void {
  const { of, streaming, version } = WAYS[name]!
  const isServable = of === 'servable'
  const run = (input: string, more: object = {}) => ask(server, name, { input, ...more })

  describe(name, () => {
    it('text', async () => {
      const { events } = await stream(server, `/api/agents/${name}/stream`, { input: 'words one two three' })
      const texts = events.flatMap(event => (event.type === 'text' ? [event.text] : []))
      expect(texts.join('')).toBe('one two three ')
      if (streaming) expect(texts).toEqual(['one ', 'two ', 'three '])
      expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    })

    it('files and data', async () => {
      expect((await run('makes')).artifacts).toMatchObject([
        { artifactId: 'picture', parts: [{ type: 'image', ...FILE }] },
        { artifactId: 'facts', parts: [{ type: 'data', data: DATA }] },
      ])
    })

    it('a message', async () => {
      expect(await run('message hello there')).toMatchObject({ text: 'hello there', finishReason: 'stop' })
    })

    it('progress', async () => {
      const { events } = await stream(server, `/api/agents/${name}/stream`, { input: 'steps' })
      expect(events).toContainEqual(expect.objectContaining({ type: 'text', text: 'found' }))
      const steps = events.filter(({ type }) => type === 'step')
      // What is looked at now and then may have passed.
      if (streaming) expect(steps.length).toBe(isServable ? 2 : 1)
    })

    it('a question', async () => {
      const asked = await run('asks')
      expect(asked).toMatchObject({ finishReason: 'input_required', requests: [{ kind: 'question' }] })
      expect(asked.requests?.[0]?.message).toBe('Which one?')
      const value = crypto.randomUUID()
      expect(await answer(server, asked, { value })).toMatchObject({
        ...{ text: `so ${value}`, finishReason: 'stop' },
      })
      if (!isServable) expect(came.get(value)).toBe(1)
    })

    if (isServable) {
      it('an approval, with other arguments', async () => {
        const asked = await run('approves')
        expect(asked.requests).toMatchObject([
          { kind: 'approval', toolName: 'refund', args: { amount: 5 }, editable: true },
        ])
        expect(await answer(server, asked, { decision: 'approve', editedArgs: { amount: 3 } })).toMatchObject(
          {
            ...{ text: 'refunded 3', finishReason: 'stop' },
          },
        )
      })
    }

    it('a failure, a rejection and a need of credentials', async () => {
      expect(await run('fails badly')).toMatchObject({ code: 'provider_failed' })
      expect(await run('rejects because')).toMatchObject({ finishReason: 'rejected', message: 'because' })
      expect(await run('auth please')).toMatchObject({ finishReason: 'auth_required', message: 'please' })
    })

    it('a run that is cancelled cancels the task', async () => {
      const key = crypto.randomUUID()
      const body = { input: `waits ${key}`, background: true }
      const response = await fetch(`${server().url}/api/agents/${name}/stream`, jsonRequest(body))
      const id = response.headers.get('x-run-id')
      await eventually(() => expect(waits.get(key)).toBe(false))
      await fetch(`${server().url}/api/runs/${id}/cancel`, { method: 'POST' })
      await response.text()
      await eventually(() => expect(waits.get(key)).toBe(true))
    })

    it('a reader that leaves cancels the task', async () => {
      const key = crypto.randomUUID()
      const leaving = new AbortController()
      const init = { ...jsonRequest({ input: `waits ${key}` }), signal: leaving.signal }
      const response = await fetch(`${server().url}/api/agents/${name}/stream`, init)
      const { value } = await messagesOf(response).next()
      expect(value?.event).toEqual({ type: 'text', text: 'waiting' })
      leaving.abort()
      await eventually(() => expect(waits.get(key)).toBe(true))
    })

    it('a session is one context, and nothing of the caller is passed on but the depth', async () => {
      const sessionId = crypto.randomUUID()
      const tell = async () => JSON.parse((await run('tells', { sessionId })).text)
      const [first, second] = [await tell(), await tell()]
      expect(second).toEqual(first)
      expect(first.metadata).toEqual({ 'servable/depth': 1 })
      expect(JSON.parse((await run('tells')).text).contextId).not.toBe(first.contextId)
      expect(version).toBeDefined()
    })
  })
}
