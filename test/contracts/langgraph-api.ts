/** What holds of LangGraph's interface, on every store and runtime. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { jsonRequest } from './http/client.ts'
import { as, own, type Server, textReader } from './runs/client.ts'
import { served } from './served.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test knows what it has asked for
type Json = any

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Json
}

/** One frame of a stream. */
export interface Frame {
  readonly event: string
  readonly id: number
  readonly data: Json
}

/** The frames of a stream. */
export function framesIn(text: string): Frame[] {
  return text.split('\n\n').flatMap(block => {
    const fields = new Map(
      block.split('\n').flatMap((line): [string, string][] => {
        const [, name = '', value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? []
        return name === '' ? [] : [[name, value]]
      }),
    )
    const data = fields.get('data')
    if (data === undefined) return []
    return [{ event: fields.get('event') ?? '', id: Number(fields.get('id')), data: JSON.parse(data) }]
  })
}

const of = (frames: readonly Frame[], event: string) => frames.filter(frame => frame.event === event)
const human = (content: unknown, id?: string) => ({ type: 'human', content, ...(id && { id }) })

/** Messages as the first letter of their type and their text. */
const short = (values: Json): string[] =>
  values.messages.map((message: Json) => {
    const { type, content } = message
    return `${type[0]}:${typeof content === 'string' ? content : content.map((each: Json) => each.text ?? each.type).join('')}`
  })

const textIn = (content: Json): string =>
  typeof content === 'string' ? content : content.map((each: Json) => each.text ?? '').join('')

/** The texts of the pieces by the ids of their messages, and the arguments of calls. */
function piecesIn(frames: readonly Frame[], run_id: string) {
  const texts = new Map<string, string>()
  let args = ''
  for (const { data } of of(frames, 'messages')) {
    const [chunk, about] = data
    expect(about).toMatchObject({ langgraph_node: chunk.type === 'tool' ? 'tools' : 'agent', run_id })
    if (chunk.type !== 'AIMessageChunk') continue
    texts.set(chunk.id, (texts.get(chunk.id) ?? '') + textIn(chunk.content))
    for (const each of chunk.tool_call_chunks ?? []) args += each.args
  }
  return { texts: [...texts], args }
}

export function langGraphContract(deploy: Deploy): void {
  langGraphCases(served(() => deploy('usual')))
}

export function langGraphCases(server: Server): void {
  const ann = own('ann')

  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    user = ann,
    more: RequestInit = {},
  ): Promise<Answer> => {
    const init = body === undefined ? { headers: as(user) } : jsonRequest(body, as(user))
    const headers = { ...(init.headers as object), ...(more.headers as object) }
    const response = await fetch(`${server().url}/langgraph${path}`, { ...init, ...more, method, headers })
    const text = await response.text()
    let json: Json
    try {
      json = JSON.parse(text)
    } catch {}
    return { status: response.status, headers: response.headers, text, json }
  }
  const ok = async (...args: Parameters<typeof ask>): Promise<Json> => {
    const { status, text, json } = await ask(...args)
    expect(status, text).toBe(200)
    return json
  }
  const newThread = async (): Promise<string> => (await ok('POST', '/threads', {})).thread_id
  const wait = (thread: string, assistant_id: string, body: object) =>
    ok('POST', `/threads/${thread}/runs/wait`, { assistant_id, ...body })
  const say = (thread: string, assistant: string, text: string, more: object = {}) =>
    wait(thread, assistant, { input: { messages: [human(text)] }, ...more })
  const stream = async (thread: string, assistant_id: string, body: object): Promise<Frame[]> => {
    const { status, text } = await ask('POST', `/threads/${thread}/runs/stream`, { assistant_id, ...body })
    expect(status, text).toBe(200)
    return framesIn(text)
  }
  const historyOf = (thread: string): Promise<Json[]> =>
    ok('POST', `/threads/${thread}/history`, { limit: 1000 })
  const stateOf = (thread: string) => ok('GET', `/threads/${thread}/state`)
  /** What an agent says. */
  const tell = async (assistant_id: string, input: string): Promise<string> =>
    short(await ok('POST', '/runs/wait', { assistant_id, input: { messages: input } }))
      .at(-1)!
      .slice(2)
  const open = (gate: string) => tell('opens', gate)
  /** Starts a run that waits for its gate, once it is at work. */
  const gated = async (thread: string, gate: string, more: object = {}): Promise<string> => {
    const begun = await ok('POST', `/threads/${thread}/runs`, {
      ...{ assistant_id: 'gated', input: { messages: [human(gate, `message ${gate}`)] }, ...more },
    })
    await eventually(async () => expect(await tell('tells', gate)).toBe('started'))
    return begun.run_id
  }

  describe('assistants', () => {
    it('are the agents and teams, by name and by id', async () => {
      const all = await ok('POST', '/assistants/search', { limit: 100 })
      const talks = all.find((each: Json) => each.graph_id === 'talks')
      expect(talks).toMatchObject({ name: 'talks', version: 1, metadata: { created_by: 'system' } })
      expect(all.map((each: Json) => each.graph_id)).toContain('team/desk')
      expect(await ok('GET', '/assistants/talks')).toEqual(talks)
      expect(await ok('GET', `/assistants/${talks.assistant_id}`)).toEqual(talks)
      expect(await ok('POST', '/assistants/search', { graph_id: 'talks' })).toEqual([talks])
      expect(await ok('POST', '/assistants/count', {})).toBe(all.length)
      expect((await ok('GET', '/assistants/talks/schemas')).input_schema.properties).toHaveProperty(
        'messages',
      )
      const { nodes, edges } = await ok('GET', '/assistants/talks/graph?xray=true')
      expect([nodes.length, edges.length]).toEqual([3, 2])
      expect(await ok('GET', '/assistants/talks/subgraphs')).toEqual({})
      expect((await ask('GET', '/assistants/nobody')).status).toBe(404)
      expect((await ask('GET', `/assistants/${crypto.randomUUID()}/graph`)).status).toBe(404)
    })

    it('come in pages', async () => {
      const { json, headers } = await ask('POST', '/assistants/search', { limit: 2, offset: 1 })
      expect(json).toHaveLength(2)
      expect(headers.get('x-pagination-next')).toBe('3')
      expect(Number(headers.get('x-pagination-total'))).toBeGreaterThan(3)
      expect(await ok('GET', '/info')).toMatchObject({ flags: { assistants: true, crons: false } })
      expect(await ok('GET', '/ok')).toEqual({ ok: true })
    })
  })

  describe('threads', () => {
    it('are made, read, changed and deleted', async () => {
      const id = crypto.randomUUID()
      const made = await ok('POST', '/threads', { thread_id: id, metadata: { a: 1, b: { c: 2 } } })
      expect(made).toMatchObject({ thread_id: id, status: 'idle', metadata: { a: 1 } })
      expect(made).not.toHaveProperty('values')
      expect((await ask('POST', '/threads', { thread_id: id })).status).toBe(409)
      expect(await ok('POST', '/threads', { thread_id: id, if_exists: 'do_nothing' })).toEqual(made)
      expect(await ok('PATCH', `/threads/${id}`, { metadata: { a: 3, d: 4 } })).toMatchObject({
        metadata: { a: 3, b: { c: 2 }, d: 4 },
      })
      expect(await ok('GET', `/threads/${id}/state`)).toMatchObject({
        values: {},
        next: [],
        tasks: [],
        checkpoint: null,
      })
      expect(await historyOf(id)).toEqual([])
      expect((await ask('DELETE', `/threads/${id}`)).status).toBe(204)
      for (const method of ['DELETE', 'GET']) expect((await ask(method, `/threads/${id}`)).status).toBe(404)
    })

    it('are searched by metadata and status, in pages', async () => {
      const user = own('searcher')
      const mark = own('mark')
      const made: Json[] = []
      for (const n of [1, 2, 3]) made.push(await ok('POST', '/threads', { metadata: { mark, n } }, user))
      // Of one moment they have the order of their ids.
      const keyOf = ({ created_at, thread_id }: Json) => `${created_at} ${thread_id}`
      const sorted = made.toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
      const ids = sorted.map(({ thread_id }) => thread_id)
      const found = (body: object) => ask('POST', '/threads/search', { metadata: { mark }, ...body }, user)
      const { json, headers } = await found({ limit: 2, select: ['thread_id'] })
      expect(json).toEqual(ids.slice(0, 2).map(thread_id => ({ thread_id })))
      expect([headers.get('x-pagination-total'), headers.get('x-pagination-next')]).toEqual(['3', '2'])
      const idsIn = async (body: object) => (await found(body)).json.map((each: Json) => each.thread_id)
      expect(await idsIn({ sort_by: 'created_at', sort_order: 'asc' })).toEqual(ids.toReversed())
      expect(await idsIn({ metadata: { mark, n: 2 } })).toEqual([made[1].thread_id])
      expect(await idsIn({ ids: [ids[2]] })).toEqual([ids[2]])
      const input = { messages: [human('4')] }
      await ok('POST', `/threads/${ids[0]}/runs/wait`, { assistant_id: 'pays', input }, user)
      expect(await idsIn({ status: 'interrupted' })).toEqual([ids[0]])
      expect(await idsIn({ status: 'idle' })).toEqual(ids.slice(1))
      expect(await idsIn({ metadata: { graph_id: 'pays' } })).toEqual([ids[0]])
      expect(await ok('POST', '/threads/count', { metadata: { mark } }, user)).toBe(3)
      expect((await found({ sort_by: 'updated_at' })).json[0].values.messages[0].content).toBe('4')
    })

    it('are copied', async () => {
      const id = await newThread()
      await say(id, 'talks', 'hello')
      const copy = await ok('POST', `/threads/${id}/copy`)
      expect(copy.metadata).toMatchObject({ graph_id: 'talks', thread_id: id })
      expect(short(copy.values)).toEqual(short((await stateOf(id)).values))
      await say(copy.thread_id, 'talks', 'more')
      expect((await stateOf(id)).values.messages).not.toContainEqual(
        expect.objectContaining({ content: 'more' }),
      )
    })
  })

  describe('a run', () => {
    it('is streamed in modes that agree with each other', async () => {
      const id = await newThread()
      const modes = ['values', 'messages-tuple', 'messages', 'updates', 'tasks', 'custom']
      const { text, headers, status } = await ask('POST', `/threads/${id}/runs/stream`, {
        ...{ assistant_id: 'talks', input: { messages: [human('hello', 'h1')] }, stream_mode: modes },
      })
      expect(status, text).toBe(200)
      const frames = framesIn(text)
      const [first] = frames
      const runId = first?.data.run_id
      expect(first).toEqual({ event: 'metadata', id: 0, data: { run_id: runId, attempt: 1 } })
      expect(headers.get('content-location')).toBe(`/threads/${id}/runs/${runId}`)
      expect(headers.get('location')).toBe(`/threads/${id}/runs/${runId}/stream`)
      const numbers = frames.map(frame => frame.id)
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
      const values = of(frames, 'values')
      expect(values[0]?.data.messages).toEqual([human('hello', 'h1')])
      const end = values.at(-1)?.data
      expect(end.messages.map((each: Json) => each.type)).toEqual(['human', 'ai', 'tool', 'ai'])
      // The pieces make the whole messages.
      const [, calling, tool, answer] = end.messages
      const { texts, args } = piecesIn(frames, runId)
      expect(texts).toEqual([calling, answer].map(each => [each.id, textIn(each.content)]))
      expect(JSON.parse(args)).toEqual(calling.tool_calls[0].args)
      expect(tool).toMatchObject({ tool_call_id: calling.tool_calls[0].id, name: 'add', status: 'success' })
      expect(answer.content).toBe('It is 3.')
      expect(of(frames, 'updates').map(({ data }) => Object.keys(data)[0])).toEqual([
        'agent',
        'tools',
        'agent',
      ])
      expect(of(frames, 'messages/complete').map(({ data }) => data[0])).toEqual(end.messages)
      expect(of(frames, 'tasks').map(({ data }) => 'result' in data)).toEqual([false, true])
      // Calls of another turn may have the same ids.
      await say(id, 'talks', 'again')
      const types = (await stateOf(id)).values.messages.map((each: Json) => each.type)
      expect(types).toEqual(['human', 'ai', 'tool', 'ai', 'human', 'ai', 'tool', 'ai'])
      // What is stored is the same.
      expect((await stateOf(id)).values.messages.slice(0, 4)).toEqual(end.messages)
      expect(await ok('GET', `/threads/${id}/runs/${runId}/join`)).toEqual(end)
    })

    it('is followed again from any frame, by two readers at once', async () => {
      const id = await newThread()
      const modes = { stream_mode: ['values', 'messages-tuple', 'updates'] }
      const frames = await stream(id, 'talks', { input: { messages: 'hello' }, ...modes })
      const path = `/threads/${id}/runs/${frames[0]?.data.run_id}/stream?stream_mode=values,messages-tuple,updates`
      for (const at of [0, 3, frames.length - 1]) {
        const read = () =>
          ask('GET', path, undefined, ann, { headers: { 'last-event-id': String(frames[at]?.id) } })
        for (const { text } of await Promise.all([read(), read()]))
          expect(framesIn(text)).toEqual(frames.slice(at + 1))
      }
      for (const headers of [{}, { 'last-event-id': '-1' }] as Record<string, string>[]) {
        expect(framesIn((await ask('GET', path, undefined, ann, { headers })).text)).toEqual(frames)
      }
    })

    it('goes on while its reader is away, and its reader comes back to the rest', async () => {
      const id = await newThread()
      const gate = own('gate')
      const leaving = new AbortController()
      const body = {
        assistant_id: 'gated',
        input: { messages: [human(gate)] },
        stream_mode: 'messages-tuple',
      }
      const response = await fetch(`${server().url}/langgraph/threads/${id}/runs/stream`, {
        ...jsonRequest(body, as(ann)),
        signal: leaving.signal,
      })
      const reader = textReader(response)
      let text = ''
      while (!text.includes('First ')) text += await reader.more()
      leaving.abort()
      const location = response.headers.get('location')
      const before = framesIn(text)
      const rest = ask('GET', `${location}?stream_mode=messages-tuple`, undefined, ann, {
        headers: { 'last-event-id': String(before.at(-1)?.id) },
      })
      await open(gate)
      const after = framesIn((await rest).text)
      const all = [...before, ...after].filter(({ event }) => event === 'messages')
      const said = all
        .map(({ data }) => data[0].content)
        .map(each => (typeof each === 'string' ? each : (each[0]?.text ?? '')))
      expect(said.join('')).toBe('First and last.')
      expect(new Set(all.map(frame => frame.id)).size).toBe(all.length)
    })

    it('is told to have failed, and why is not told in production', async () => {
      const id = await newThread()
      const frames = await stream(id, 'fails', { input: { messages: 'x' } })
      expect(frames.at(-1)).toMatchObject({ event: 'error', data: { error: 'agent_failed' } })
      expect(await wait(id, 'fails', { input: { messages: 'y' } })).toEqual({
        __error__: { error: 'agent_failed', message: expect.any(String) },
      })
      expect(await ok('GET', `/threads/${id}`)).toMatchObject({ status: 'error' })
      const state = await stateOf(id)
      expect(state).toMatchObject({
        next: ['agent'],
        tasks: [{ error: expect.stringContaining('agent_failed') }],
      })
      expect(JSON.stringify([frames, state])).not.toContain('vault')
      expect((await ok('GET', `/threads/${id}/runs`))[0]).toMatchObject({ status: 'error' })
    })

    it('runs in the background, is listed, joined, and deleted', async () => {
      const id = await newThread()
      const gate = own('gate')
      const metadata = { what: 'mine' }
      const runId = await gated(id, gate, { metadata })
      expect(await ok('GET', `/threads/${id}`)).toMatchObject({ status: 'busy' })
      expect(await ok('GET', `/threads/${id}/runs/${runId}`)).toMatchObject({
        status: 'running',
        thread_id: id,
        metadata,
      })
      expect((await ask('DELETE', `/threads/${id}/runs/${runId}`)).status).toBe(409)
      const joined = ok('GET', `/threads/${id}/runs/${runId}/join?cancel_on_disconnect=0`)
      await open(gate)
      expect(short(await joined)).toEqual([`h:${gate}`, 'a:thinkingFirst and last.'])
      const listed = await ok('GET', `/threads/${id}/runs?status=success`)
      expect(listed).toMatchObject([{ run_id: runId, status: 'success', metadata }])
      expect(await ok('GET', `/threads/${id}/runs?status=error`)).toEqual([])
      expect((await ask('DELETE', `/threads/${id}/runs/${runId}`)).status).toBe(204)
      expect((await ask('GET', `/threads/${id}/runs/${runId}`)).status).toBe(404)
      expect(short((await stateOf(id)).values)).toEqual([`h:${gate}`, 'a:First and last.'])
    })

    it('is cancelled', async () => {
      const id = await newThread()
      const gate = own('gate')
      const runId = await gated(id, gate)
      expect((await ask('POST', `/threads/${id}/runs/${runId}/cancel?wait=1`)).status).toBe(204)
      expect(await ok('GET', `/threads/${id}/runs/${runId}`)).toMatchObject({ status: 'interrupted' })
      expect(await stateOf(id)).toMatchObject({ next: [], tasks: [] })
      expect((await ask('POST', `/threads/${id}/runs/${runId}/cancel`)).status).toBe(202)
      expect((await ask('POST', `/threads/${id}/runs/${crypto.randomUUID()}/cancel`)).status).toBe(404)
      const next = own('gate')
      const other = await gated(id, next)
      expect((await ask('POST', '/runs/cancel', { thread_id: id, status: 'running' })).status).toBe(204)
      await eventually(async () =>
        expect(await ok('GET', `/threads/${id}/runs/${other}`)).toMatchObject({ status: 'interrupted' }),
      )
    })

    it('stops with its reader if the client wants that', async () => {
      const id = await newThread()
      const input = own('left')
      const leaving = new AbortController()
      const body = {
        assistant_id: 'chatters',
        input: { messages: [human(input)] },
        on_disconnect: 'cancel',
        stream_mode: 'messages-tuple',
      }
      const response = await fetch(`${server().url}/langgraph/threads/${id}/runs/stream`, {
        ...jsonRequest(body, as(ann)),
        signal: leaving.signal,
      })
      const reader = textReader(response)
      for (let text = ''; !text.includes('First '); ) text += await reader.more()
      leaving.abort()
      await eventually(async () => expect(await tell('tells', input)).toBe('stopped'))
    })
  })

  describe('a run beside another one of its thread', () => {
    it('is refused, or waits for its turn', async () => {
      const id = await newThread()
      const gate = own('gate')
      await gated(id, gate)
      const body = { assistant_id: 'gated', input: { messages: [human('next')] } }
      expect(
        (await ask('POST', `/threads/${id}/runs`, { ...body, multitask_strategy: 'reject' })).status,
      ).toBe(409)
      expect((await ask('POST', `/threads/${id}/state`, { values: { messages: [human('x')] } })).status).toBe(
        409,
      )
      const queued = await ok('POST', `/threads/${id}/runs`, body)
      expect(queued.status).toBe('pending')
      await eventually(async () => {
        const pending = await ok('GET', `/threads/${id}/runs?status=pending&limit=1000`)
        expect(pending.map((each: Json) => each.run_id)).toEqual([queued.run_id])
      })
      await open('next')
      await open(gate)
      const values = await ok('GET', `/threads/${id}/runs/${queued.run_id}/join`)
      expect(values.messages.map((each: Json) => each.type)).toEqual(['human', 'ai', 'human', 'ai'])
    })

    it('is the only one of those that began in the same moment, if each wants to be alone', async () => {
      const id = await newThread()
      const gate = own('gate')
      const body = { assistant_id: 'gated', input: { messages: [human(gate)] }, multitask_strategy: 'reject' }
      const all = await Promise.all(Array.from({ length: 3 }, () => ask('POST', `/threads/${id}/runs`, body)))
      expect(all.map(({ status }) => status).sort()).toEqual([200, 409, 409])
      await open(gate)
      const { json } = all.find(({ status }) => status === 200) as Answer
      expect(short(await ok('GET', `/threads/${id}/runs/${json.run_id}/join`))[0]).toBe(`h:${gate}`)
      await eventually(async () => expect(await ok('GET', `/threads/${id}/runs`)).toHaveLength(1))
    })

    it('interrupts it, or rolls it back', async () => {
      for (const strategy of ['interrupt', 'rollback']) {
        const id = await newThread()
        await say(id, 'gated', await opened(open))
        const gate = own('gate')
        const first = await gated(id, gate)
        const lost = {
          assistant_id: 'gated',
          checkpoint_id: crypto.randomUUID(),
          multitask_strategy: strategy,
        }
        const wrong = await ask('POST', `/threads/${id}/runs/wait`, { ...lost, input: { messages: 'x' } })
        expect(wrong.status).toBe(404)
        expect(await ok('GET', `/threads/${id}/runs/${first}`)).toMatchObject({ status: 'running' })
        const second = await opened(open)
        const values = await say(id, 'gated', second, { multitask_strategy: strategy })
        const asked = values.messages
          .filter((each: Json) => each.type === 'human')
          .map((each: Json) => each.content)
        expect(asked.slice(1)).toEqual(strategy === 'rollback' ? [second] : [gate, second])
        const { status } = await ask('GET', `/threads/${id}/runs/${first}`)
        expect(status).toBe(strategy === 'rollback' ? 404 : 200)
      }
    })
  })

  describe('a run that waits for a person', () => {
    it('interrupts its thread, and goes on with a decision', async () => {
      for (const [decision, end] of [
        [{ type: 'approve' }, 'paid 7'],
        [{ type: 'reject', message: 'Too much' }, 'Too much'],
      ] as const) {
        const id = await newThread()
        const frames = await stream(id, 'pays', {
          input: { messages: [human('7')] },
          stream_mode: ['values', 'updates'],
        })
        const [last, before] = frames.toReversed()
        const [interrupt] = last?.data.__interrupt__ ?? []
        expect(Object.keys(last?.data ?? {})).toEqual(['__interrupt__'])
        expect(before).toMatchObject({ event: 'updates', data: { __interrupt__: [interrupt] } })
        expect(interrupt.value).toMatchObject({
          action_requests: [{ name: 'pay', args: { amount: 7 } }],
          review_configs: [{ action_name: 'pay', allowed_decisions: ['approve', 'reject'] }],
        })
        const thread = await ok('GET', `/threads/${id}`)
        expect([thread.status, Object.values(thread.interrupts)]).toEqual(['interrupted', [[interrupt]]])
        expect(await stateOf(id)).toMatchObject({ next: ['agent'], tasks: [{ interrupts: [interrupt] }] })
        const resumed = await stream(id, 'pays', {
          input: null,
          command: { resume: { decisions: [decision] } },
        })
        expect(resumed[1]?.data).toEqual({
          messages: before && frames.findLast(({ data }) => data.messages)?.data.messages,
        })
        expect(short(resumed.at(-1)?.data).slice(-2)[1]).toContain(end)
        expect(await ok('GET', `/threads/${id}`)).toMatchObject({ status: 'idle', interrupts: {} })
        expect(
          (
            await ask('POST', `/threads/${id}/runs/wait`, {
              assistant_id: 'pays',
              command: { resume: 'yes' },
            })
          ).status,
        ).toBe(409)
      }
    })

    it('takes a decision for each call, and by the id of the interrupt', async () => {
      const id = await newThread()
      const { __interrupt__: asked } = await say(id, 'pays', '8 9')
      const [interrupt] = asked
      expect(interrupt.value.action_requests).toHaveLength(2)
      const resume = (value: unknown) =>
        ask('POST', `/threads/${id}/runs/wait`, { assistant_id: 'pays', command: { resume: value } })
      expect((await resume({ decisions: [{ type: 'approve' }] })).status).toBe(400)
      expect((await resume('whatever')).status).toBe(400)
      const decisions = [{ type: 'approve' }, { type: 'reject' }]
      const { json } = await resume({ [interrupt.id]: { decisions } })
      expect(short(json).at(-1)).toMatch(/paid 8, not paid/)
    })

    it('takes the answer to a question, or another message', async () => {
      const id = await newThread()
      const { __interrupt__: asked } = await say(id, 'asks', 'a shirt')
      expect(asked).toMatchObject([{ value: { question: 'Which size?', schema: { type: 'string' } } }])
      const values = await wait(id, 'asks', { command: { resume: 'M' } })
      expect(short(values).at(-1)).toBe('a:It is M.')
      await say(id, 'asks', 'another')
      const { __interrupt__: again } = await say(id, 'asks', 'no, this one')
      expect(again).toHaveLength(1)
    })

    it('gets the results of the client’s tools as messages', async () => {
      const id = await newThread()
      const tools = [{ name: 'paint', description: 'Paints', parameters: { type: 'object', properties: {} } }]
      const values = await wait(id, 'paints', { input: { messages: [human('paint')], tools } })
      const [call] = values.messages.at(-1).tool_calls
      expect(call).toMatchObject({ name: 'paint', args: { hue: 'warm' } })
      const result = { type: 'tool', tool_call_id: call.id, content: 'done' }
      const after = await wait(id, 'paints', { input: { messages: [...values.messages, result], tools } })
      expect(short(after).slice(-2)).toEqual(['t:done', 'a:Given ["done"]'])
    })
  })

  describe('the checkpoints of a thread', () => {
    it('are a chain, newest first, and each can be read', async () => {
      const id = await newThread()
      for (const text of ['one', 'two']) await say(id, 'recalls', text)
      const states = await historyOf(id)
      expect(states.map(({ next, values }) => [values.messages.length, ...next])).toEqual([
        [4],
        [3, 'agent'],
        [2],
        [1, 'agent'],
        [0, '__start__'],
      ])
      const ids = states.map(({ checkpoint }) => checkpoint.checkpoint_id)
      expect(states.map(({ parent_checkpoint: parent }) => parent?.checkpoint_id)).toEqual([
        ...ids.slice(1),
        undefined,
      ])
      expect(ids).toEqual(ids.toSorted().reverse())
      const path = `/threads/${id}/state`
      expect(await ok('GET', `${path}/${ids[2]}`)).toEqual(states[2])
      expect(
        await ok('POST', `${path}/checkpoint`, { checkpoint: { thread_id: 'x', checkpoint_id: ids[2] } }),
      ).toEqual(states[2])
      expect(await ok('POST', `${path}/checkpoint`, { checkpoint: { thread_id: id } })).toEqual(states[0])
      for (const before of [ids[1], { configurable: { checkpoint_id: ids[1] } }, { checkpoint_id: ids[1] }]) {
        expect(await ok('POST', `/threads/${id}/history`, { limit: 1, before })).toEqual([states[2]])
      }
      expect((await ask('GET', `${path}/${crypto.randomUUID()}`)).status).toBe(404)
    })

    it('are where other branches begin', async () => {
      const id = await newThread()
      for (const text of ['one', 'two']) await say(id, 'recalls', text)
      const states = await historyOf(id)
      const [newest, , between, , root] = states
      const at = (state: Json) => ({ checkpoint: state.checkpoint })
      // The newest one is where any run begins.
      expect(await said(say(id, 'recalls', 'three', at(newest)))).toEqual(['one', 'two', 'three'])
      expect(await said(say(id, 'recalls', 'deux', at(between)))).toEqual(['one', 'deux'])
      expect(await said(say(id, 'recalls', 'trois'))).toEqual(['one', 'deux', 'trois'])
      expect(await said(say(id, 'recalls', 'uno', { checkpoint_id: root.checkpoint.checkpoint_id }))).toEqual(
        ['uno'],
      )
      expect(
        (
          await ask('POST', `/threads/${id}/runs/wait`, {
            assistant_id: 'recalls',
            input: { messages: 'x' },
            checkpoint_id: crypto.randomUUID(),
          })
        ).status,
      ).toBe(404)
      // An answer is made again.
      const [, asked] = states
      const again = await wait(id, 'recalls', at(asked))
      expect(again.messages.map((each: Json) => each.id).slice(0, 3)).toEqual(
        newest.values.messages.map((each: Json) => each.id).slice(0, 3),
      )
      expect(again.messages[3].id).not.toBe(newest.values.messages[3].id)
      const after = await historyOf(id)
      const children = after.filter(
        each => each.parent_checkpoint?.checkpoint_id === asked.checkpoint.checkpoint_id,
      )
      expect(children).toHaveLength(2)
    })

    it('grow by what is new in a conversation that is sent again and again', async () => {
      const id = await newThread()
      const first = await say(id, 'recalls', 'one')
      const second = await wait(id, 'recalls', {
        input: { messages: [...first.messages, human('two', 'h2')] },
      })
      expect(
        short(second)
          .map(each => each[0])
          .join(''),
      ).toBe('haha')
      // The same id with another text edits it.
      const edited = await wait(id, 'recalls', {
        input: { messages: [...second.messages.slice(0, 2), human('zwei', 'h2')] },
      })
      expect(await said(edited)).toEqual(['one', 'zwei'])
    })

    it('begin with what a client brings from elsewhere', async () => {
      const id = crypto.randomUUID()
      const before = [human('one'), { role: 'assistant', content: 'eins' }]
      const values = await wait(id, 'recalls', {
        if_not_exists: 'create',
        input: { messages: [...before, ['user', 'two']] },
      })
      expect(short(values).slice(0, 3)).toEqual(['h:one', 'a:eins', 'h:two'])
      expect(short(values)[3]).toContain('u:one|a:eins > two')
    })

    it('are changed by hand', async () => {
      const id = await newThread()
      const { messages } = await say(id, 'recalls', 'one')
      const update = (body: object) => ask('POST', `/threads/${id}/state`, body)
      const before = await stateOf(id)
      expect((await update({ values: { messages }, as_node: 'agent' })).json.checkpoint).toEqual(
        before.checkpoint,
      )
      expect((await update({ values: { messages: [{ ...messages[1], content: 'better' }] } })).status).toBe(
        200,
      )
      expect(short((await stateOf(id)).values)).toEqual(['h:one', 'a:better'])
      expect(
        (await update({ values: { messages: [human('two'), { role: 'ai', content: 'zwei' }] } })).status,
      ).toBe(200)
      const values = await say(id, 'recalls', 'three')
      expect(short(values).at(-1)).toContain('u:one|a:better|u:two|a:zwei > three')
      const empty = await newThread()
      expect(
        (await ask('POST', `/threads/${empty}/state`, { values: { messages: [human('x')] } })).status,
      ).toBe(400)
      expect(
        (
          await update({
            values: {
              messages: [
                { role: 'ai', content: 'alone' },
                { role: 'tool', content: '' },
              ],
            },
          })
        ).status,
      ).toBe(400)
    })
  })

  describe('a run without a thread', () => {
    it('is streamed, waited for, and leaves no thread behind', async () => {
      const user = own('passing')
      const input = { messages: [human('one'), { role: 'assistant', content: 'eins' }, human('two')] }
      const { headers, text } = await ask('POST', '/runs/stream', { assistant_id: 'recalls', input }, user)
      const frames = framesIn(text)
      expect(headers.get('content-location')).toBe(`/runs/${frames[0]?.data.run_id}`)
      expect(short(frames.at(-1)?.data).at(-1)).toContain('u:one|a:eins > two')
      expect(
        short(await ok('POST', '/runs/wait', { assistant_id: 'recalls', input }, user)).at(-1),
      ).toContain('> two')
      expect(await ok('POST', '/threads/search', {}, user)).toEqual([])
      const [one, two] = await ok(
        'POST',
        '/runs/batch',
        [1, 2].map(() => ({ assistant_id: 'talks', input: { messages: 'x' } })),
        user,
      )
      for (const { run_id: runId } of [one, two]) {
        expect(short(await ok('GET', `/runs/${runId}/join`, undefined, user))).toContain('h:x')
        expect(await ok('GET', `/runs/${runId}`, undefined, user)).toMatchObject({
          status: 'success',
          thread_id: null,
        })
      }
    })
  })

  describe('somebody else', () => {
    it('finds nothing of a caller, whatever the body says', async () => {
      const id = await newThread()
      const values = await say(id, 'pays', '3')
      expect(values).toHaveProperty('__interrupt__')
      const { checkpoint } = await stateOf(id)
      const [{ run_id: runId }] = await ok('GET', `/threads/${id}/runs`)
      const thread = `/threads/${id}`
      const mallory = own('mallory')
      const own_ = (await ok('POST', '/threads', {}, mallory)).thread_id
      const asked = { assistant_id: 'pays', input: { messages: [human('1')] } }
      const requests: [string, string, object?][] = [
        ['GET', thread],
        ['PATCH', thread, { metadata: { a: 1 } }],
        ['DELETE', thread],
        ['POST', `${thread}/copy`],
        ['GET', `${thread}/state`],
        ['GET', `${thread}/state/${checkpoint.checkpoint_id}`],
        ['POST', `${thread}/state/checkpoint`, { checkpoint }],
        ['POST', `${thread}/state`, { values: { messages: [human('x')] } }],
        ['POST', `${thread}/history`, {}],
        ['POST', `${thread}/runs`, asked],
        ['POST', `${thread}/runs/stream`, asked],
        ['POST', `${thread}/runs/wait`, { assistant_id: 'pays', command: { resume: true } }],
        ['GET', `${thread}/runs`],
        ...['', '/join', '/stream'].map((path): [string, string] => [
          'GET',
          `${thread}/runs/${runId}${path}`,
        ]),
        ...['', '/join', '/stream'].map((path): [string, string] => ['GET', `/runs/${runId}${path}`]),
        ['POST', `/runs/${runId}/cancel`],
        ['POST', `${thread}/runs/${runId}/cancel?action=rollback`],
        ['DELETE', `${thread}/runs/${runId}`],
        ['POST', '/runs/cancel', { thread_id: id, status: 'all' }],
        // In a thread of its own.
        ['GET', `/threads/${own_}/runs/${runId}`],
        ['POST', `/threads/${own_}/runs/${runId}/cancel`],
        ['POST', `/threads/${own_}/runs/wait`, { ...asked, checkpoint }],
      ]
      for (const [method, path, body] of requests) {
        const { status, text } = await ask(method, path, body, mallory)
        expect([method, path, status], text).toEqual([method, path, 404])
      }
      const configurable = { thread_id: id, checkpoint_id: checkpoint.checkpoint_id }
      const mine = await ok(
        'POST',
        `/threads/${own_}/runs/wait`,
        { ...asked, config: { configurable } },
        mallory,
      )
      expect(short(mine)[0]).toBe('h:1')
      const made = await ok('POST', `${thread}/runs/wait`, { ...asked, if_not_exists: 'create' }, mallory)
      expect(short(made)[0]).toBe('h:1')
      expect((await stateOf(id)).checkpoint).toEqual(checkpoint)
    })
  })

  describe('a wrong request', () => {
    it('is told what is wrong, and starts nothing', async () => {
      const id = await newThread()
      const run_ = { assistant_id: 'talks', input: { messages: [human('x')] } }
      const wrong: [number, string, string, unknown?][] = [
        [400, 'GET', '/threads/not-a-uuid'],
        [400, 'POST', '/threads', { thread_id: 'x' }],
        [400, 'POST', '/threads', { metadata: [] }],
        [400, 'POST', '/threads', []],
        [404, 'POST', `/threads/${crypto.randomUUID()}/runs/wait`, run_],
        [404, 'POST', `/threads/${id}/runs/wait`, { ...run_, assistant_id: 'nobody' }],
        [400, 'POST', `/threads/${id}/runs/wait`, { input: run_.input }],
        [400, 'POST', `/threads/${id}/runs/wait`, { assistant_id: 'talks' }],
        [400, 'POST', `/threads/${id}/runs/wait`, { assistant_id: 'talks', input: {} }],
        [400, 'POST', `/threads/${id}/runs/wait`, { ...run_, input: { messages: [{ type: 'alien' }] } }],
        [400, 'POST', `/threads/${id}/runs/wait`, { ...run_, stream_mode: 'loud' }],
        [400, 'POST', `/threads/${id}/runs/wait`, { ...run_, multitask_strategy: 'fight' }],
        [400, 'POST', `/threads/${id}/runs/wait`, { ...run_, command: { goto: 'agent' } }],
        [400, 'POST', `/threads/${id}/runs/wait`, { ...run_, interrupt_before: ['tools'] }],
        [400, 'POST', `/threads/${id}/runs/wait`, { ...run_, webhook: 'https://x.example/' }],
        [400, 'POST', `/threads/${id}/runs/wait`, { ...run_, after_seconds: 5 }],
        [409, 'POST', `/threads/${id}/runs/wait`, { assistant_id: 'talks', command: { resume: 1 } }],
        [404, 'GET', `/threads/${id}/runs/${crypto.randomUUID()}/stream`],
        [400, 'POST', '/threads/search', { sort_by: 'size' }],
        [400, 'POST', '/assistants', { graph_id: 'talks' }],
        [400, 'POST', '/runs/crons', {}],
        [400, 'POST', '/runs/stream', { assistant_id: 'talks', input: null }],
      ]
      for (const [expected, method, path, body] of wrong) {
        const { status, text } = await ask(method, path, body)
        expect([method, path, JSON.stringify(body), status], text).toEqual([
          method,
          path,
          JSON.stringify(body),
          expected,
        ])
      }
      expect(await ok('GET', `/threads/${id}/runs`)).toEqual([])
      const malformed = await ask('POST', `/threads/${id}/runs/wait`, undefined, ann, {
        ...{ body: '{"assistant_id":', headers: { 'content-type': 'application/json' } },
      })
      expect(malformed.status).toBe(400)
      const response = await fetch(`${server().url}/langgraph/threads`, jsonRequest({}, {}))
      expect(response.status).toBe(401)
    })

    it('that names another agent is refused, as a thread is of one', async () => {
      const id = await newThread()
      await say(id, 'talks', 'x')
      const other = await ask('POST', `/threads/${id}/runs/wait`, {
        assistant_id: 'recalls',
        input: { messages: 'x' },
      })
      expect(other.status).toBe(409)
    })
  })
}

/** The name of a gate that is open. */
async function opened(open: (gate: string) => Promise<unknown>): Promise<string> {
  const gate = own('gate')
  await open(gate)
  return gate
}

/** What the user said. */
async function said(values: Json): Promise<string[]> {
  const { messages } = await values
  return messages.filter((each: Json) => each.type === 'human').map((each: Json) => each.content)
}
