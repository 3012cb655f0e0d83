import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lead, ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { Agent, createHandler, type RunEvent, Team, textOf } from '../../../src/index.ts'
import { drain } from '../../support.ts'
import { calls, hangs, type Provider, says, startProvider } from './provider.ts'

let leading: Provider
let working: Provider
beforeAll(async () => {
  ;[leading, working] = await Promise.all([startProvider(), startProvider()])
})
afterAll(() => Promise.all([leading.stop(), working.stop()]))

const modelAt =
  (name: string, provider: () => Provider) =>
  ({ apiKey = 'own' }: { readonly apiKey: string | undefined }) =>
    createOpenAICompatible({ name, baseURL: provider().url, apiKey, includeUsage: true })('model-1')

const searcher = new Agent({
  name: 'searcher',
  description: 'Finds things',
  register: false,
  async *run(input) {
    yield `found ${textOf(input)}`
    return { usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } }
  },
})

const team = () =>
  new Team({
    name: 'desk',
    register: false,
    members: [
      searcher,
      new ModelAgent({ name: 'writer', model: modelAt('provider-b', () => working), register: false }),
    ],
    strategy: lead({ model: modelAt('provider-a', () => leading), instructions: 'Plan, then delegate.' }),
  })

const stepsIn = (events: readonly RunEvent[]) => events.filter(event => event.type === 'step')

describe('lead', () => {
  it('lets a model ask the members, and says what the model says', async () => {
    leading.script(
      calls(['ask_searcher', { input: 'facts' }]),
      calls(['ask_writer', { input: 'write it' }]),
      says('All ', 'done'),
    )
    working.script(says('A text'))
    const events = await drain(team().stream('Do it'))
    expect(events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'All ' },
      { type: 'text', text: 'done' },
    ])
    expect(stepsIn(events).map(({ name, status, text }) => [name, status, text])).toEqual([
      ['searcher', 'started', undefined],
      ['searcher', 'progress', 'found facts'],
      ['searcher', 'completed', undefined],
      ['writer', 'started', undefined],
      ['writer', 'progress', 'A text'],
      ['writer', 'completed', undefined],
    ])
    expect(events.at(-1)).toMatchObject({ type: 'finish', usage: { totalTokens: 30 + 2 + 10 } })
    const [first, second] = leading.asked
    expect(first?.body.messages[0]).toEqual({ role: 'system', content: 'Plan, then delegate.' })
    expect(first?.body.tools?.map(tool => tool.function.name)).toEqual(['ask_searcher', 'ask_writer'])
    expect(second?.body.messages.at(-1)?.content).toBe('found facts')
  })

  it('tells what a member does as inside of the tool call, and each answer of a model with whose it is', async () => {
    leading.script(calls(['ask_writer', { input: 'a' }]), calls(['ask_writer', { input: 'b' }]), says('done'))
    working.script(says('A text'), says('A text'))
    const events = await drain(team().stream('Do it'))
    const ids = events.flatMap(event => (event.type === 'tool_call_start' ? [event.toolCall.id] : []))
    expect(new Set(ids).size).toBe(2)
    for (const [place, id] of ids.entries()) {
      const inside = events.filter(({ parentId }) => parentId === id)
      const own = place === 0 ? 'writer' : 'writer#2'
      expect(inside.map(event => (event.type === 'step' ? [event.id, event.status] : event.type))).toEqual([
        [own, 'started'],
        [own, 'progress'],
        'model_call',
        [own, 'completed'],
      ])
    }
    const answers = events.filter(event => event.type === 'model_call')
    const of = (who: string | undefined) =>
      answers.flatMap(({ agent, model, finishReason }) => (agent === who ? [[model, finishReason]] : []))
    const [own, writers] = ['provider-a.chat/model-1', 'provider-b.chat/model-1']
    expect(of(undefined)).toEqual([...Array(2).fill([own, 'tool_calls']), [own, 'stop']])
    expect(of('writer')).toEqual(Array(2).fill([writers, 'stop']))
    expect(answers.every(({ usage, durationMs }) => usage?.totalTokens === 10 && durationMs! >= 0)).toBe(true)
  })

  it('asks several members at once', async () => {
    leading.script(calls(['ask_searcher', { input: 'a' }], ['ask_searcher', { input: 'b' }]), says('done'))
    const { text, toolCalls } = await team().run('Do it')
    expect(text).toBe('done')
    expect(toolCalls.map(({ result }) => result)).toEqual(['found a', 'found b'])
  })

  it('remembers the session, with what the members said', async () => {
    const handler = createHandler({ registry: false, logger: false, teams: { desk: team() } })
    const ask = (input: string) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ input, sessionId: 's' })
      return handler(new Request('http://127.0.0.1/api/teams/desk/run', { method: 'POST', headers, body }))
    }
    leading.script(calls(['ask_searcher', { input: 'a' }]), says('done'))
    expect((await ask('Do it')).status).toBe(200)
    leading.script(says('as before'))
    await ask('Again')
    expect(leading.asked[0]?.body.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'Do it' },
      { role: 'assistant' },
      { role: 'tool', content: 'found a' },
      { role: 'assistant', content: 'done' },
      { role: 'user', content: 'Again' },
    ])
  })

  it('gives each model the key of its own provider', async () => {
    leading.script(calls(['ask_writer', { input: 'x' }]), says('done'))
    working.script(says('A text'))
    await team().run('Do it', { apiKeys: { 'provider-a': 'key-a', 'provider-b': 'key-b' } })
    expect(leading.asked.map(({ authorization }) => authorization)).toEqual(['Bearer key-a', 'Bearer key-a'])
    expect(working.asked.map(({ authorization }) => authorization)).toEqual(['Bearer key-b'])
  })

  it('goes on after a member has failed, as its model sees fit', async () => {
    const broken = new Agent({
      name: 'broken',
      register: false,
      run: () => Promise.reject(new Error('no paper')),
    })
    const one = new Team({
      name: 'one',
      register: false,
      members: [broken],
      strategy: lead({ model: modelAt('provider-a', () => leading) }),
    })
    leading.script(calls(['ask_broken', { input: 'x' }]), calls(['ask_broken', {}]), says('I could not'))
    const { text, toolCalls } = await one.run('Do it')
    expect(text).toBe('I could not')
    expect(toolCalls.map(({ error }) => error)).toEqual(['no paper', expect.stringContaining('`input`')])
  })

  it('leaves its members and their models when the run ends early', async () => {
    leading.script(calls(['ask_writer', { input: 'x' }]))
    working.script(hangs('Wait'))
    const leaving = new AbortController()
    const events = team().stream('Do it', { signal: leaving.signal })
    for await (const event of events) if (event.type === 'step' && event.status === 'progress') break
    leaving.abort()
    await expect.poll(() => working.asked[0]?.hasLeft).toBe(true)
  })
})

describe('a lead that is left', () => {
  it('leaves its model and its members at once, though they are silent', async () => {
    leading.script(calls(['ask_writer', { input: 'x' }]))
    working.script(hangs('Wait'))
    for await (const event of team().stream('Do it')) {
      if (event.type === 'step' && event.status === 'progress') break
    }
    await expect.poll(() => working.asked[0]?.hasLeft).toBe(true)
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(leading.asked).toHaveLength(1)
  })
})
