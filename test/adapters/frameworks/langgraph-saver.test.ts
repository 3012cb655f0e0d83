/** The checkpointer over our state. `test/wide/langgraph.test.ts` has real graphs. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { Saver } from '../../../src/adapters/frameworks/langgraph/langgraph-saver.ts'
import { messageMaker } from '../../../src/adapters/frameworks/langgraph/langgraph-values.ts'
import type { RunMemory } from '../../../src/agents/memory.ts'
import type { ConversationStates } from '../../../src/agents/states.ts'
import { ServableError } from '../../../src/base/errors.ts'
import { memoryState } from '../../../src/index.ts'
import { PARTS } from '../../../src/runs/sessions/session-record.ts'
import { forgetStatesOf, readStates, writeState } from '../../../src/runs/sessions/session-states.ts'
import { Graph } from '../../contracts/sessions/graph.ts'
import { key, settings } from '../../runs/sessions/session-kit.ts'
import { drain } from '../../support.ts'

/** The states of one session. */
function session() {
  const { store } = memoryState()
  return {
    store,
    of: (run: string): ConversationStates => {
      const side = { run, call: '', hasTurn: false }
      return {
        read: async query => store.read(tx => readStates(tx, key, query, side)),
        write: async update => store.write(tx => writeState(tx, key, update, side, settings)),
        release: async () => {},
      }
    },
  }
}

const nothing = () => undefined
const saverOver = (states: ConversationStates) => new Saver(states, { toMessage: nothing })
const configOf = (id?: string) => ({
  configurable: { thread_id: 't', checkpoint_ns: '', ...(id && { checkpoint_id: id }) },
})

/** A checkpoint with these values, each of a version of its own unless it is given. */
function checkpoint(id: string, values: object, versions: object = {}) {
  const all = Object.fromEntries(Object.keys(values).map(name => [name, id]))
  return {
    ...{ v: 4, id, ts: 'now', channel_values: values, channel_versions: { ...all, ...versions } },
    versions_seen: { node: { a: 1 } },
  }
}

const metadata = { source: 'loop', step: 1, parents: {} }

describe('the checkpointer of a graph', () => {
  it('gives every value as it was', async () => {
    const special = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.uniqueArray(fc.string()).map(all => new Set(all)),
      fc.array(fc.tuple(fc.string(), fc.nat())).map(all => new Map(all)),
      fc.uint8Array(),
      fc.string().map(text => new Error(text)),
      fc.constantFrom(undefined, /a+/gi, 'x'.repeat(1000)),
    )
    const value = fc.oneof(special, fc.array(special, { maxLength: 60 }), fc.dictionary(fc.string(), special))
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), value), async values => {
        const { of } = session()
        await saverOver(of('r')).put(configOf(), checkpoint('1', values), metadata)
        const tuple = await saverOver(of('r')).getTuple(configOf())
        // JSON has one zero.
        const read = tuple?.checkpoint as object
        expect(JSON.parse(JSON.stringify({ read }))).toEqual(
          JSON.parse(JSON.stringify({ read: checkpoint('1', values) })),
        )
        expect(fc.stringify(Object.keys(Object(tuple?.checkpoint.channel_values)))).toBe(
          fc.stringify(Object.keys(values)),
        )
      }),
      { numRuns: 100 },
    )
    const values = { all: [new Set([1]), new Map([['a', undefined]]), /a/g, new Uint8Array([1, 255])] }
    const { of } = session()
    await saverOver(of('r')).put(configOf(), checkpoint('1', values), metadata)
    expect((await saverOver(of('r')).getTuple(configOf()))?.checkpoint.channel_values).toEqual(values)
  })

  it('stores an item of a list once', async () => {
    const { of, store } = session()
    const saver = saverOver(of('r'))
    const messages: object[] = []
    const text = () => crypto.randomUUID().repeat(10)
    const lengthOf = () =>
      store.read(tx =>
        tx
          .list<string>(PARTS, { partition: '[null,["agent:a"],"s"]', limit: 10_000 })
          .reduce((sum, { value }) => sum + value.length, 0),
      )
    let parent: string | undefined
    for (let step = 1; step <= 500; step++) {
      messages.push({ type: 'ai', content: text() })
      const id = String(step).padStart(4, '0')
      await saver.put(
        configOf(parent),
        checkpoint(id, { messages: [...messages], same: 'x'.repeat(1000) }),
        metadata,
      )
      parent = id
    }
    const content = JSON.stringify(messages).length
    expect(lengthOf()).toBeGreaterThan(content)
    expect(lengthOf()).toBeLessThan(5 * content)
    const tuple = await saverOver(of('r')).getTuple(configOf('0300'))
    expect(tuple?.checkpoint.channel_values).toMatchObject({ messages: messages.slice(0, 300) })
    expect(tuple?.parentConfig).toEqual(configOf('0299'))
  })

  it('keeps 1,000 checkpoints, each with all of its values', { timeout: 60_000 }, async () => {
    const { of } = session()
    const saver = saverOver(of('r'))
    const messages: object[] = []
    let config: object = configOf()
    for (let step = 1; step <= 1150; step++) {
      messages.push({ type: 'human', content: `message ${step}` })
      config = await saver.put(
        config,
        checkpoint(String(step).padStart(4, '0'), { messages: [...messages] }),
        {
          ...metadata,
          step,
        },
      )
    }
    const reader = saverOver(of('r'))
    const seen: unknown[] = []
    for await (const { checkpoint: each } of reader.list(configOf(), undefined)) {
      const { messages: list } = Object(each.channel_values)
      expect(list).toEqual(messages.slice(0, Number(each.id)))
      seen.push(each.id)
    }
    expect(seen.length).toBeGreaterThanOrEqual(1000)
    expect([seen[0], seen]).toEqual(['1150', seen.toSorted().reverse()])
    const some: unknown[] = []
    const asked = { limit: 2, before: configOf('0900'), filter: { source: 'loop' } }
    for await (const { metadata: each } of reader.list(configOf(), asked)) some.push(Object(each).step)
    expect(some).toEqual([899, 898])
  })

  it('writes all again if parts were deleted meanwhile', async () => {
    const { of, store } = session()
    const values = { big: 'b'.repeat(1000) }
    await saverOver(of('old')).put(configOf(), checkpoint('1', values), metadata)
    const saver = saverOver(of('new'))
    const config = (await saver.getTuple(configOf()))?.config
    store.write(tx => forgetStatesOf(tx, key, ['old']))
    await saver.put(config, checkpoint('2', values, { big: '1' }), metadata)
    expect((await saverOver(of('new')).getTuple(configOf()))?.checkpoint.channel_values).toEqual(values)
  })

  it('goes on at its own checkpoint beside another one on the same thread', async () => {
    const { of } = session()
    const [one, other] = [saverOver(of('one')), saverOver(of('other'))]
    const of1 = await one.put(configOf(), checkpoint('1', { by: 'one' }), metadata)
    await other.put(configOf(), checkpoint('2', { by: 'other' }), metadata)
    expect((await one.getTuple(configOf()))?.config).toEqual(of1)
    await one.put(of1, checkpoint('3', { by: 'one again' }), metadata)
    expect((await other.getTuple(configOf()))?.checkpoint.channel_values).toEqual({ by: 'other' })
    const goesOn = new Saver(of('other'), { toMessage: nothing, goesOn: true })
    expect((await goesOn.getTuple(configOf()))?.checkpoint.id).toBe('2')
    const answered = new Saver(of('third'), { toMessage: nothing, goesOn: true, start: '1' })
    expect((await answered.getTuple(configOf()))?.checkpoint.id).toBe('1')
    expect((await saverOver(of('third')).getTuple(configOf()))?.checkpoint.id).toBe('3')
  })

  it('gives the writes of a checkpoint in the order of a graph', async () => {
    const { of } = session()
    const saver = saverOver(of('r'))
    const config = await saver.put(configOf(), checkpoint('1', {}), metadata)
    await saver.putWrites(
      config,
      [
        ['a', 1],
        ['b', undefined],
      ],
      'task 2',
      'b',
    )
    await saver.putWrites(config, [['__interrupt__', [{ id: 'i', value: 1 }]]], 'task 1', 'c')
    await saver.putWrites(config, [['a', 0]], 'task 3')
    await saver.putWrites(config, [['a', 'not the first']], 'task 2', 'b')
    await saver.putWrites(config, [['__interrupt__', [{ id: 'i', value: 2 }]]], 'task 1', 'c')
    expect((await saverOver(of('r')).getTuple(configOf()))?.pendingWrites).toEqual([
      ['task 3', 'a', 0],
      ['task 2', 'a', 1],
      ['task 2', 'b', undefined],
      ['task 1', '__interrupt__', [{ id: 'i', value: 2 }]],
    ])
  })

  it('replays a channel that is stored as its changes', async () => {
    const { of } = session()
    const saver = saverOver(of('r'))
    const one = await saver.put(configOf(), checkpoint('1', { log: ['seed'] }), metadata)
    await saver.putWrites(
      one,
      [
        ['log', 'a'],
        ['other', 'x'],
      ],
      'task',
    )
    const two = await saver.put(one, checkpoint('2', {}), metadata)
    await saver.putWrites(two, [['log', 'b']], 'task')
    const three = await saver.put(two, checkpoint('3', {}), metadata)
    const history = await saver.getDeltaChannelHistory({ config: three, channels: ['log', 'none'] })
    expect(history).toEqual({
      log: {
        writes: [
          ['task', 'log', 'a'],
          ['task', 'log', 'b'],
        ],
        seed: ['seed'],
      },
      none: { writes: [] },
    })
  })

  it('refuses what is no JSON', async () => {
    const { of } = session()
    const put = saverOver(of('r')).put(configOf(), checkpoint('1', { big: 1n }), metadata)
    await expect(put).rejects.toMatchObject({ code: 'invalid_event' })
  })
})

describe('the messages of a graph', () => {
  const json = { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'AIMessageChunk'] }

  class Message {
    readonly id = 'made'
    readonly content: string
    constructor(content: string) {
      this.content = content
    }
    getType() {
      return 'ai'
    }
  }

  it('are made by the reducer of the graph, or of one inside of it', () => {
    const messages = {
      operator: (_: unknown, [{ kwargs }]: [{ kwargs: { content: string } }]) => [
        new Message(kwargs.content),
      ],
    }
    const other = { operator: () => 1 }
    const failing = {
      operator() {
        throw new Error('not a message')
      },
    }
    const inner = { channels: { messages } }
    for (const graph of [
      { channels: { failing, other, messages } },
      { channels: { other }, getSubgraphs: () => [['inner', inner]] },
    ]) {
      const made = messageMaker(graph)({ ...json, kwargs: { content: 'Hi' } })
      expect(made).toBeInstanceOf(Message)
      expect(made).toMatchObject({ content: 'Hi', id: undefined })
    }
    expect(messageMaker({ channels: { failing, other } })(json)).toBeUndefined()
  })

  it('are plain objects of their type if no reducer makes them', async () => {
    const { of } = session()
    const message = { toJSON: () => ({ ...json, kwargs: { content: 'Hi', tool_calls: [] } }) }
    await saverOver(of('r')).put(configOf(), checkpoint('1', { messages: [message] }), metadata)
    expect((await saverOver(of('r')).getTuple(configOf()))?.checkpoint.channel_values).toEqual({
      messages: [{ type: 'ai', content: 'Hi', tool_calls: [] }],
    })
  })
})

it('fails a run whose state cannot be stored', async () => {
  const states: ConversationStates = {
    read: async () => ({ edition: undefined, states: [], parts: {} }),
    async write() {
      throw new ServableError('state_unavailable', 'The store is away')
    },
    release: async () => {},
  }
  const memory = { states: () => states } as unknown as RunMemory
  const run = drain(toAgent(new Graph()).stream!('Hi', { memory, sessionId: 's' }))
  await expect(run).rejects.toMatchObject({ code: 'state_unavailable' })
})
