import { describe, expect, it } from 'vitest'
import {
  type AgentConfig,
  type AgentContext,
  type ContentPart,
  type RunEvent,
  ServableError,
  steps,
  textOf,
  Workflow,
} from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { eventsOf, noting, remote, service } from './service.ts'

/** The events of a remote agent whose service runs this. */
async function heard(run: AgentConfig['run'], input: Parameters<typeof eventsOf>[1] = 'hi') {
  return eventsOf(remote({ fetch: noting(service(run)).fetch }), input)
}

const STOP = { type: 'finish', finishReason: 'stop' }

describe('remoteAgent', () => {
  it('tells the text of the agent as it comes', async () => {
    const { fetch, methods } = noting(
      service(async function* (input) {
        yield 'Hello, '
        yield textOf(input)
      }),
    )
    const events = await eventsOf(remote({ fetch }), 'Ann')
    expect(events).toEqual([{ type: 'text', text: 'Hello, ' }, { type: 'text', text: 'Ann' }, STOP])
    expect(methods()).toEqual(['/.well-known/agent-card.json', 'SendStreamingMessage'])
  })

  it('sends parts of every kind, and tells artifacts', async () => {
    const parts: readonly ContentPart[] = [
      { type: 'text', text: 'look' },
      { type: 'image', data: 'AAEC', mimeType: 'image/png' },
      { type: 'audio', data: 'https://files.test/a.mp3', mimeType: 'audio/mpeg' },
      { type: 'file', data: 'AAEC', mimeType: 'application/pdf', filename: 'a.pdf' },
      { type: 'data', data: { deep: [null, 1.5, '日本'] } },
    ]
    const events = await heard(async function* (input) {
      yield { type: 'artifact', artifactId: 'all', name: 'All', parts: input as readonly ContentPart[] }
    }, parts)
    expect(events).toEqual([
      { type: 'text', text: 'look' },
      { type: 'artifact', artifactId: 'all', name: 'All', parts: parts.slice(1), lastChunk: true },
      STOP,
    ])
  })

  it('tells an artifact in chunks', async () => {
    const chunk = (data: string): ContentPart => ({ type: 'file', data, mimeType: 'text/csv' })
    const events = await heard(async function* () {
      yield 'making '
      yield { type: 'artifact', artifactId: 'a', parts: [chunk('AAAA')], lastChunk: false }
      yield { type: 'artifact', artifactId: 'a', parts: [chunk('BBBB')], append: true, lastChunk: true }
    })
    expect(events.slice(1)).toEqual([
      { type: 'artifact', artifactId: 'a', parts: [chunk('AAAA')], lastChunk: false },
      { type: 'artifact', artifactId: 'a', parts: [chunk('BBBB')], append: true, lastChunk: true },
      STOP,
    ])
  })

  it('tells a message without a task as a message', async () => {
    const parts: readonly ContentPart[] = [
      { type: 'text', text: 'a' },
      { type: 'data', data: { b: 1 } },
    ]
    const events = await heard(async function* () {
      yield { type: 'message', parts }
    })
    expect(events).toEqual([{ type: 'message', parts }, STOP])
  })

  it('tells steps, and messages on the way as progress', async () => {
    const events = await heard(async function* () {
      yield { type: 'step', id: 's', name: 'search', status: 'started', index: 0 }
      yield { type: 'message', parts: [{ type: 'text', text: 'found' }] }
      yield { type: 'step', id: 's', name: 'search', status: 'completed', index: 0, durationMs: 3 }
      yield 'done'
    })
    expect(events).toMatchObject([
      { type: 'step', id: 's', name: 'search', status: 'started', index: 0 },
      { type: 'step', name: 'here', status: 'progress', text: 'found' },
      { type: 'step', id: 's', name: 'search', status: 'completed', durationMs: 3 },
      { type: 'text', text: 'done' },
      STOP,
    ])
  })

  it.each(['rejected', 'auth_required', 'cancelled'] as const)(
    'ends as the agent does: %s',
    async finishReason => {
      const events = await heard(async function* () {
        yield 'no'
        return { finishReason }
      })
      const message = finishReason === 'cancelled' ? {} : { message: 'no' }
      expect(events).toEqual([
        { type: 'text', text: 'no' },
        { type: 'finish', finishReason, ...message },
      ])
    },
  )

  it('fails as the agent does, with a text that is masked where ours are', async () => {
    const run = heard(() => {
      throw new ServableError('invalid_input', 'name a city')
    })
    await expect(run).rejects.toMatchObject({
      code: 'provider_failed',
      message: 'The remote agent failed: name a city',
    })
  })

  it('asks what the agent asks, in kind, and answers it', async () => {
    const agent = remote({
      fetch: noting(
        service(async function* (_, { ask }: AgentContext) {
          const size = yield* ask('size', { message: 'Which size?', schema: { type: 'integer' } })
          yield `size ${size}`
        }),
      ).fetch,
    })
    const kept: unknown[] = []
    const work = { read: () => kept.at(-1), keep: (state: unknown) => void kept.push(structuredClone(state)) }
    const [finish] = await eventsOf(agent, 'hi', { runId: 'r1', work })
    expect(finish).toMatchObject({
      finishReason: 'input_required',
      requests: [{ kind: 'question', message: 'Which size?', schema: { type: 'integer' } }],
    })
    const [request] = (finish as Extract<RunEvent, { type: 'finish' }>).requests!
    expect(request!.id).toBe('r1/input')
    const answers = [{ id: request!.id, value: 42 }]
    const events = await eventsOf(agent, 'hi', { runId: 'r2', work, answers })
    expect(events).toEqual([{ type: 'text', text: 'size 42' }, STOP])
  })

  it('asks with the text of an agent that asks with nothing else', async () => {
    let turns = 0
    const { fetch, got } = noting(
      service(async function* (input) {
        const isAnswer = ++turns > 1
        yield isAnswer ? `sunny in ${textOf(input)}` : 'which city?'
        return isAnswer ? undefined : { finishReason: 'input_required' as const }
      }),
    )
    const agent = remote({ fetch })
    const kept: unknown[] = []
    const work = { read: () => kept.at(-1), keep: (state: unknown) => void kept.push(structuredClone(state)) }
    const first = await eventsOf(agent, 'hi', { runId: 'r1', work })
    expect(first).toMatchObject([
      { type: 'text', text: 'which city?' },
      { finishReason: 'input_required', requests: [{ kind: 'question', message: 'which city?' }] },
    ])
    const answers = [{ id: 'r1/input', value: 'Oslo' }]
    const events = await eventsOf(agent, 'hi', { runId: 'r2', work, answers })
    expect(events).toEqual([{ type: 'text', text: 'sunny in Oslo' }, STOP])
    const message = got.at(-1)!.body.params as { message: { parts: unknown; taskId: string } }
    expect(message.message.parts).toEqual([{ text: 'Oslo' }])
    expect(message.message.taskId).toMatch(/./)
  })

  it('cancels the task of a run that is cancelled', async () => {
    let isStopped = false
    const { fetch, methods } = noting(
      service(async function* (_, { signal }) {
        signal.addEventListener('abort', () => {
          isStopped = true
        })
        yield 'a'
        await new Promise(() => {})
      }),
    )
    const controller = new AbortController()
    for await (const { type } of remote({ fetch }).stream!('hi', { signal: controller.signal })) {
      expect(type).toBe('text')
      controller.abort()
      break
    }
    await eventually(() => expect(isStopped).toBe(true))
    expect(methods().at(-1)).toBe('CancelTask')
  })

  it('is a step of a workflow', async () => {
    const { fetch } = noting(service(input => `got ${textOf(input)}`))
    const agent = remote({ fetch })
    const flow = new Workflow({
      name: 'flow',
      register: false,
      steps: steps().step('asks', (input, { call }) => call(agent, input)),
    })
    expect(await flow.run('x')).toMatchObject({ text: 'got x' })
  })
})
