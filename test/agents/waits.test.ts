/** What a body may wait for, and how it goes on. */

import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { RunWork } from '../../src/agents/work/work.ts'
import {
  Agent,
  type AgentConfig,
  type AgentContext,
  type FinishEvent,
  type RunEvent,
  type RunOptions,
  sequence,
  steps,
  Team,
  type Tool,
  textOf,
  parallel as together,
  Workflow,
  type WorkflowConfig,
} from '../../src/index.ts'
import { eventually } from '../eventually.ts'
import { foreign, textIn } from '../support.ts'
import { type Talk, talk } from './talk.ts'

type Body = NonNullable<AgentConfig['run']>
type FlowBody = NonNullable<WorkflowConfig['run']>

const agent = (run: Body, tools: readonly Tool[] = [], name = 'agent'): Agent =>
  new Agent({ name, run, tools, register: false })

const flow = (run: FlowBody): Workflow => new Workflow({ name: 'flow', run, register: false })

/** A tool that notes its arguments, and gives what `work` makes of them. */
function noting(
  name: string,
  more: Partial<Tool> = {},
  work: (args: unknown) => unknown = () => `${name}ed`,
) {
  const calls: unknown[] = []
  const tool: Tool = {
    name,
    execute(args) {
      calls.push(args)
      return work(args)
    },
    ...more,
  }
  return { tool, calls }
}

const pathsIn = ({ id, requests }: Talk) => requests.map(request => request.id.replace(`${id}/`, ''))

const typesIn = ({ events }: Talk) => events.map(({ type }) => type)

const never = (): Promise<never> => new Promise(() => {})

describe('ask', () => {
  it('ends the run with a question, and goes on with the value', async () => {
    const shy = agent(async function* (_, { ask }) {
      yield 'Hello. '
      const name = yield* ask('name', { message: 'Who are you?', schema: { type: 'string' } })
      yield `So you are ${name}.`
    })
    const first = await talk(shy)
    expect(first.text).toBe('Hello. ')
    const requests = [
      {
        id: `${first.id}/name`,
        kind: 'question',
        message: 'Who are you?',
        schema: { type: 'string' },
        digest: expect.stringMatching(/^[\w-]{43}$/),
      },
    ]
    expect(first.events.at(-1)).toEqual({ type: 'finish', finishReason: 'input_required', requests })
    const last = await first.say('Ada')
    expect(last.text).toBe('So you are Ada.')
    expect(last.events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    expect(last.id).not.toBe(first.id)
  })

  it('takes the name for the message, and any JSON without a schema', async () => {
    const values = [null, false, 0, '', [], {}, { a: [1, { b: null }] }]
    for (const value of values) {
      const seen: unknown[] = []
      const first = await talk(
        agent(async function* (_, { ask }) {
          seen.push(yield* ask('what'))
        }),
      )
      expect(first.requests[0]).toMatchObject({ message: 'what' })
      expect(first.requests[0]).not.toHaveProperty('schema')
      await first.say(value)
      expect(seen).toEqual([value])
    }
  })

  it('counts a name that is asked again', async () => {
    const twice = agent(async function* (_, { ask }) {
      const all = []
      while (all.length < 3) all.push(yield* ask('next'))
      yield all.join()
    })
    let now = await talk(twice)
    for (const [index, path] of ['next', 'next#2', 'next#3'].entries()) {
      expect(pathsIn(now)).toEqual([path])
      now = await now.say(index)
    }
    expect(now.text).toBe('0,1,2')
  })

  it('keeps names apart that look like paths', async () => {
    const odd = agent(async function* (_, { ask, step }) {
      const all = [yield* ask('a#2'), yield* ask('a'), yield* ask('a'), yield* ask('s/a'), yield* ask('%23')]
      all.push(
        yield* step('s', async function* (inner) {
          return yield* inner.ask('a')
        }),
      )
      yield all.join()
    })
    let now = await talk(odd)
    const paths: string[] = []
    for (let index = 0; index < 6; index++) {
      paths.push(...pathsIn(now))
      now = await now.say(index)
    }
    expect(paths).toEqual(['a%232', 'a', 'a#2', 's%2Fa', '%2523', 's/a'])
    expect(now.text).toBe('0,1,2,3,4,5')
  })

  it('asks again where the value does not fit the schema of a library, and says why', async () => {
    const schema = z
      .string()
      .min(3, 'too short')
      .transform(text => text.length)
    const strict = agent(async function* (_, { ask }) {
      yield 'Well? '
      yield `${yield* ask('word', { message: 'A word', schema })} characters`
    })
    const first = await talk(strict)
    expect(first.requests[0]).toMatchObject({ schema: { type: 'string' }, message: 'A word' })
    const second = await first.say('no')
    expect(second.text).toBe('')
    expect(pathsIn(second)).toEqual(['word'])
    expect(second.requests[0]).toMatchObject({ id: `${second.id}/word`, message: 'A word (too short)' })
    expect(second.requests[0]?.digest).not.toBe(first.requests[0]?.digest)
    expect((await second.say('four')).text).toBe('4 characters')
  })

  it('gives the value anew to each run, whatever the one before has done with it', async () => {
    const greedy = agent(async function* (_, { ask, step }) {
      const list = (yield* ask('list')) as number[]
      list.push(3)
      const more = yield* step('more', () => [4])
      more.push(5)
      yield* ask('enough')
      yield JSON.stringify([list, more])
      yield* ask('really')
      yield JSON.stringify([list, more])
    })
    const waiting = await (await talk(greedy)).say([1, 2])
    const again = await waiting.say('no')
    expect(again.text).toBe('[[1,2,3],[4,5]]')
    expect((await again.say('yes')).text).toBe('[[1,2,3],[4,5]]')
  })

  it('runs the `finally` of the body, and no `catch`', async () => {
    const order: string[] = []
    const tidy = agent(async function* (_, { ask }) {
      try {
        yield* ask('go')
        order.push('on')
      } catch {
        order.push('caught')
      } finally {
        order.push('tidied')
      }
    })
    const first = await talk(tidy)
    await eventually(() => expect(order).toEqual(['tidied']))
    await first.say(1)
    expect(order).toEqual(['tidied', 'on', 'tidied'])
  })

  it('fails where nothing can be kept, before anyone is asked', async () => {
    const first = await talk(
      agent(async function* (_, { ask }) {
        yield 'a'
        yield* ask('b')
      }),
      { caller: { whyUnkept: 'Nothing is kept here' } },
    )
    expect(first.events).toEqual([
      { type: 'text', text: 'a' },
      { type: 'error', code: 'runs_not_stored', error: 'Nothing is kept here' },
    ])
  })

  it('ends a run of an agent of its own, which nobody keeps', async () => {
    const result = await agent(async function* (_, { ask }) {
      yield* ask('b')
    }).run('hi')
    expect(result).toMatchObject({ finishReason: 'input_required', requests: [{ message: 'b' }] })
  })
})

describe('digests', () => {
  const digestsOf = async (message: string, schema: unknown) => {
    const { requests } = await talk(
      agent(async function* (_, { ask }) {
        yield* ask('same', { message, schema })
      }),
    )
    return requests[0]?.digest
  }

  it('are the same for what looks the same, in every order of members', async () => {
    const one = await digestsOf('which?', { type: 'object', required: ['a', 'b'] })
    expect(await digestsOf('which?', { required: ['a', 'b'], type: 'object' })).toBe(one)
    expect(await digestsOf('which?', { required: ['b', 'a'], type: 'object' })).not.toBe(one)
    expect(await digestsOf('which', { required: ['a', 'b'], type: 'object' })).not.toBe(one)
  })

  it('are those of the arguments too', async () => {
    const { tool } = noting('pay', { needsApproval: true })
    const digestOf = async (args: unknown) => {
      const payer = agent(
        async function* (_, context) {
          yield* context.callTool('pay', args)
        },
        [tool],
      )
      return (await talk(payer)).requests[0]?.digest
    }
    const one = await digestOf({ to: 'ada', amount: 5 })
    expect(await digestOf({ amount: 5, to: 'ada' })).toBe(one)
    expect(await digestOf({ to: 'ada', amount: 6 })).not.toBe(one)
  })

  it('are compared where an answer repeats them', async () => {
    const first = await talk(
      agent(async function* (_, { ask }) {
        yield `${yield* ask('a')}`
      }),
    )
    const { id = '', digest = '' } = first.requests[0] ?? {}
    const other = { id, value: 1, digest: `${digest.slice(0, -1)}_` }
    await expect(first.answer(other)).rejects.toMatchObject({ code: 'request_changed' })
    expect((await first.answer({ id, value: 1, digest })).text).toBe('1')
  })
})

describe('step', () => {
  it('is done once, told once, and gives its value to every run', async () => {
    const work = vi.fn(() => ({ n: 1 }))
    const stepping = agent(async function* (_, { ask, step }) {
      const { n } = yield* step('one', work)
      const twice = yield* step('two', async function* () {
        yield 'working '
        return n * 2
      })
      yield* ask('go')
      const three = yield* step('three', async () => n + twice)
      yield `${n} ${twice} ${three}`
    })
    const first = await talk(stepping)
    expect(first.text).toBe('working ')
    const told = first.events.flatMap(event => (event.type === 'step' ? [event] : []))
    expect(told.map(({ name, index, status }) => [name, index, status])).toEqual([
      ['one', 0, 'started'],
      ['one', 0, 'completed'],
      ['two', 1, 'started'],
      ['two', 1, 'completed'],
    ])
    const last = await first.say(1)
    expect(last.text).toBe('1 2 3')
    // Its place is the same as in a run that did not wait.
    expect(last.events).toMatchObject([
      { type: 'step', name: 'three', index: 2, status: 'started' },
      { type: 'step', name: 'three', index: 2, status: 'completed' },
      { type: 'text' },
      { type: 'finish' },
    ])
    expect(work).toHaveBeenCalledOnce()
  })

  it('that waits goes on where it was, and says nothing twice', async () => {
    const order = vi.fn(() => 7)
    const inner = agent(async function* (_, { step }) {
      yield 'Begin. '
      const paid = yield* step('pay', async function* (context) {
        yield 'Paying. '
        const number = yield* context.step('order', order)
        const sure = yield* context.ask('sure')
        yield `Sure: ${sure}. `
        return `${number} ${yield* context.ask('really')}`
      })
      yield `Paid ${paid}.`
    })
    const first = await talk(inner)
    expect(first.text).toBe('Begin. Paying. ')
    expect(pathsIn(first)).toEqual(['pay/sure'])
    const second = await first.say('yes')
    expect(second.text).toBe('Sure: yes. ')
    expect(pathsIn(second)).toEqual(['pay/really'])
    expect((await second.say('ok')).text).toBe('Paid 7 ok.')
    expect(order).toHaveBeenCalledOnce()
  })

  it('has one key for services, in every run in which it is done', async () => {
    const keys: string[] = []
    const keyed = agent(async function* (_, { step }) {
      yield* step('a', async function* ({ idempotencyKey, ask }) {
        keys.push(idempotencyKey)
        yield* ask('one')
        yield* ask('two')
      })
      yield* step('b', ({ idempotencyKey }) => void keys.push(idempotencyKey))
    })
    const first = await talk(keyed)
    await (await first.say(1)).say(2)
    const key = `${first.id}/a`
    expect(keys).toEqual([key, key, key, `${first.id}/b`])
  })

  it('that fails is told, and fails the same way in every run', async () => {
    const work = vi.fn(() => {
      throw new Error('no luck')
    })
    const caught: unknown[] = []
    const failing = agent(async function* (_, { ask, step }) {
      try {
        yield* step('try', work)
      } catch (error) {
        caught.push(error)
        yield 'Failed. '
      }
      yield `On: ${yield* ask('on')}`
    })
    const first = await talk(failing)
    expect(first.text).toBe('Failed. ')
    expect((await first.say(1)).text).toBe('On: 1')
    expect(work).toHaveBeenCalledOnce()
    expect(caught).toMatchObject([{ message: 'no luck' }, { message: 'no luck', code: 'agent_failed' }])
  })

  it('must use its own context', async () => {
    const nested = agent(async function* (_, { ask, step }) {
      yield* step('outer', async function* () {
        yield* ask('inside')
      })
    })
    const { code, error } = await talk(nested)
    expect(code).toBe('agent_failed')
    expect(error).toContain('`inside` begins in the middle of a step')
  })

  it('may be beside others in `parallel`', async () => {
    const beside = agent(async function* (_, { parallel, step }) {
      const values = yield* parallel([
        step('a', async function* (inner) {
          return yield* inner.step('b', () => 1)
        }),
        step('c', () => 2),
      ])
      yield values.join()
    })
    expect((await talk(beside)).text).toBe('1,2')
  })
})

describe('values', () => {
  it.each<[string, () => unknown]>([
    ['a bigint', () => 1n],
    [
      'a circle',
      () => {
        const circle: { self?: unknown } = {}
        circle.self = circle
        return circle
      },
    ],
  ])('that are not JSON (%s) fail a run that waits, and none that does not', async (_, make) => {
    const seen: unknown[] = []
    const odd = (isAsking: boolean) =>
      agent(async function* (_input, { ask, step }) {
        seen.push(yield* step('odd', make))
        if (isAsking) yield* ask('on')
      })
    const made = await talk(odd(false))
    expect(made.code).toBeUndefined()
    expect(seen).toEqual([make()])
    expect((await talk(odd(true))).code).toBe('invalid_event')
  })

  it('are as JSON has them in the run that goes on', async () => {
    const dated = agent(async function* (_, { ask, step }) {
      const all = [yield* step('date', () => new Date(0)), yield* step('none', () => undefined)]
      yield* ask('on')
      yield JSON.stringify(all)
    })
    expect((await (await talk(dated)).say(1)).text).toBe('["1970-01-01T00:00:00.000Z",null]')
  })

  it('have no key of the run when they are kept', async () => {
    const careless = agent(async function* (_, { apiKey, ask, step }) {
      yield* step(`with ${apiKey}`, () => ({ [`${apiKey}`]: [`key ${apiKey}`] }))
      yield* ask('on', { message: `of ${apiKey}` })
    })
    const { waiting } = await talk(careless, { options: { apiKey: 'sk-secret-1234567890' } })
    expect(JSON.stringify(waiting)).not.toContain('sk-secret')
    expect(waiting?.work.done).toHaveLength(1)
  })

  it('are refused where there is too much of them', async () => {
    const large = (length: number) =>
      agent(async function* (_, { ask, step }) {
        yield* step('large', () => 'x'.repeat(length))
        yield `${yield* ask('on')}`
      })
    const { code, error } = await talk(large(4 * 1024 * 1024))
    expect(code).toBe('run_too_large')
    expect(error).toContain('The run waits')
    expect((await (await talk(large(4 * 1024 * 1024 - 1000))).say('ok')).text).toBe('ok')
  })

  it('hold so much memory at the most while the run is at work, and count only where they are needed', () => {
    const work = new RunWork()
    const text = 'x'.repeat(1024 * 1024)
    for (let index = 0; index < 50; index++) {
      work.record({ path: `whole/${index}`, kind: 'tool', value: index % 2 === 0 ? text : { text } })
    }
    const isHeld = (index: number) => {
      try {
        return JSON.stringify(work.doneAt(`whole/${index}`)).length > text.length
      } catch {
        return false
      }
    }
    expect(Array.from({ length: 50 }, (_, index) => index).filter(isHeld).length).toBeLessThan(33)
    expect(() => work.toKeep({})).toThrow(expect.objectContaining({ code: 'run_too_large' }))
    work.record({ path: 'whole', kind: 'step', value: 1 })
    expect(work.toKeep({}).done).toEqual([{ path: 'whole', kind: 'step', value: 1 }])
  })

  it('are so many at the most', async () => {
    const many = (count: number) =>
      agent(async function* (_, { step }) {
        for (let index = 0; index < count; index++) yield* step('one', () => index)
        yield 'done'
      })
    expect((await talk(many(10_000))).text).toBe('done')
    expect((await talk(many(10_001))).code).toBe('run_too_large')
  })
})

describe('sleep', () => {
  it('waits, once', async () => {
    vi.useFakeTimers()
    try {
      const sleepy = agent(async function* (_, { ask, sleep }) {
        yield* sleep('nap', 60_000 - 1)
        yield 'awake '
        yield `${yield* ask('on')}`
      })
      const beginning = talk(sleepy)
      await vi.advanceTimersByTimeAsync(59_998)
      expect(vi.getTimerCount()).toBeGreaterThan(0)
      await vi.advanceTimersByTimeAsync(1)
      const first = await beginning
      expect(first.text).toBe('awake ')
      // Without a timer that fires.
      expect((await first.say('up')).text).toBe('up')
    } finally {
      vi.useRealTimers()
    }
  })

  it('ends with the run, and leaves no timer', async () => {
    vi.useFakeTimers()
    try {
      const leaving = new AbortController()
      const sleeping = talk(
        agent(async function* (_, { sleep }) {
          yield* sleep('long', 2 ** 31 - 1)
        }),
        { caller: { signal: leaving.signal } },
      )
      await vi.advanceTimersByTimeAsync(10)
      leaving.abort()
      expect((await sleeping).events).toEqual([{ type: 'finish', finishReason: 'cancelled' }])
      await vi.advanceTimersByTimeAsync(0)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])('refuses %d ms', async ms => {
    const { code } = await talk(
      agent(async function* (_, { sleep }) {
        yield* sleep('odd', ms)
      }),
    )
    expect(code).toBe('agent_failed')
  })
})

describe('parallel', () => {
  it('gives the values in order', async () => {
    const many = agent(async function* (_, { parallel, sleep, step }) {
      const values = yield* parallel([
        (async function* () {
          yield* sleep('a moment', 5)
          return 'slow'
        })(),
        step('fast', () => 'fast'),
      ])
      yield values.join()
    })
    expect((await talk(many)).text).toBe('slow,fast')
    expect(
      (
        await talk(
          agent(async function* (_, { parallel }) {
            yield JSON.stringify(yield* parallel([]))
          }),
        )
      ).text,
    ).toBe('[]')
  })

  it('lets the others end first, and tells all requests together', async () => {
    const done: string[] = []
    const waiting = agent(async function* (_, { ask, parallel, sleep, step }) {
      const values = yield* parallel([
        ask('a'),
        (async function* () {
          yield* sleep('long', 20)
          return yield* step('slow', () => done.push('slow'))
        })(),
        (async function* () {
          yield* sleep('short', 5)
          return yield* ask('b')
        })(),
      ])
      yield values.join()
    })
    const first = await talk(waiting)
    expect(pathsIn(first)).toEqual(['a', 'b'])
    expect(done).toEqual(['slow'])
    const part = await first.answer({ id: first.requests[1]?.id ?? '', value: 'B' })
    expect(pathsIn(part)).toEqual(['a'])
    expect((await part.say('A')).text).toBe('A,1,B')
    expect(done).toEqual(['slow'])
  })

  /** Two lanes that talk: one goes on at once, and the other one takes its time to come to its question. */
  const talking = agent(async function* (_, { ask, parallel, sleep }) {
    const lane = async function* (name: string, ms: number) {
      yield `${name} waits. `
      yield* sleep(`${name} sleeps`, ms)
      // Nothing of this is named, so it takes as long in every run.
      await new Promise(resolve => setTimeout(resolve, ms))
      yield `${name} asks. `
      yield `${name} got ${yield* ask(name)}. `
      yield `${name} got ${yield* ask(`${name} again`)}. `
      return name
    }
    const ended = async function* () {
      yield 'C speaks. '
      return 'C'
    }
    yield `All: ${(yield* parallel([lane('A', 0), lane('B', 10), ended()])).join()}`
  })

  it('says nothing twice, and leaves nothing out', async () => {
    const first = await talk(talking)
    const parts = ({ text }: Talk) => text.split(/(?<=\. )/).toSorted()
    expect(parts(first)).toEqual(['A asks. ', 'A waits. ', 'B asks. ', 'B waits. ', 'C speaks. '])
    const second = await first.say(1, 2)
    expect(parts(second)).toEqual(['A got 1. ', 'B got 2. '])
    const third = await second.say(3, 4)
    expect(parts(third)).toEqual(['A got 3. ', 'All: A,B,C', 'B got 4. '])
  })

  it('that has ended is not told again when the body waits after it', async () => {
    const after = agent(async function* (_, { ask, parallel }) {
      const lane = async function* (name: string) {
        yield `${name} asks. `
        yield `${name} got ${yield* ask(name)}. `
      }
      yield* parallel([lane('A'), lane('B')])
      yield `Then ${yield* ask('then')}. `
      yield* parallel([lane('A'), lane('B')])
    })
    const texts: string[] = []
    let now = await talk(after)
    for (const values of [[1, 2], [3], [4, 5]]) {
      texts.push(now.text)
      now = await now.say(...values)
    }
    expect(texts).toEqual(['A asks. B asks. ', 'A got 1. B got 2. ', 'Then 3. A asks. B asks. '])
    expect(now.text).toBe('A got 4. B got 5. ')
  })

  it('within `parallel` says nothing twice either', async () => {
    const nested = agent(async function* (_, { ask, parallel }) {
      const lane = async function* (name: string, ms: number) {
        await new Promise(resolve => setTimeout(resolve, ms))
        yield `${name} asks. `
        yield `${name} got ${yield* ask(name)}. `
      }
      yield* parallel([parallel([lane('A', 0), lane('B', 10)]), lane('C', 20)])
    })
    const first = await talk(nested)
    expect(first.text).toBe('A asks. B asks. C asks. ')
    expect((await first.say(1, 2, 3)).text).toBe('A got 1. B got 2. C got 3. ')
  })

  it('that fails lets the others end, so that no run does their work again', async () => {
    const slow = vi.fn(() => new Promise(resolve => setTimeout(() => resolve('slow'), 10)))
    const failing = agent(async function* (_, { ask, parallel, step }) {
      try {
        yield* parallel([
          step('slow', slow),
          step('late', async () => {
            await new Promise(resolve => setTimeout(resolve, 5))
            throw new Error('late')
          }),
          step('early', () => {
            throw new Error('early')
          }),
        ])
      } catch (error) {
        yield `${(error as Error).message}. `
      }
      yield `${yield* ask('on')}`
    })
    const first = await talk(failing)
    // In every run the first one in order.
    expect(first.text).toBe('late. ')
    const last = await first.say('on')
    expect([last.text, last.code]).toEqual(['on', undefined])
    expect(slow).toHaveBeenCalledOnce()
  })

  it('ends when its run does', async () => {
    const leaving = new AbortController()
    const stuck = talk(
      agent(async function* (_, { parallel, sleep, step }) {
        yield* parallel([step('stuck', never), sleep('long', 100_000)])
      }),
      { caller: { signal: leaving.signal } },
    )
    await new Promise(resolve => setTimeout(resolve, 5))
    leaving.abort()
    expect((await stuck).events.at(-1)).toEqual({ type: 'finish', finishReason: 'cancelled' })
  })
})

describe('a tool that needs approval', () => {
  const refunding = (tool: Tool, args: unknown = { amount: 5 }) =>
    agent(
      async function* (_, context) {
        yield 'Refunding. '
        yield `Result: ${yield* context.callTool(tool.name, args)}`
      },
      [tool],
    )

  it('runs once it is approved, with what was asked', async () => {
    const { tool, calls } = noting('refund', { needsApproval: true })
    let amount = 5
    const changing = agent(
      async function* (_, context) {
        yield `${yield* context.callTool('refund', { amount: amount++ })}`
      },
      [tool],
    )
    const first = await talk(changing)
    expect(calls).toEqual([])
    const toolCallId = expect.any(String)
    expect(first.events).toMatchObject([
      { type: 'tool_call_start', toolCall: { id: toolCallId, name: 'refund' } },
      { type: 'tool_call_delta', argumentsDelta: '{"amount":5}' },
      { type: 'tool_call_ready', args: { amount: 5 } },
      { type: 'finish', finishReason: 'input_required' },
    ])
    expect(first.requests).toMatchObject([
      { id: `${first.id}/refund`, kind: 'approval', toolName: 'refund', args: { amount: 5 } },
    ])
    for (const member of ['editable', 'schema', 'message']) {
      expect(first.requests[0]).not.toHaveProperty(member)
    }
    const last = await first.say('yes')
    expect(last.text).toBe('refunded')
    expect(calls).toEqual([{ amount: 5 }])
    // The call is the same one.
    const callIds = [...first.events, ...last.events].flatMap(event =>
      event.type === 'tool_call_start' ? [event.toolCall.id] : [],
    )
    expect(new Set(callIds)).toEqual(new Set([first.requests[0]?.toolCallId]))
    expect(callIds).toHaveLength(2)
  })

  it.each([
    [true, false],
    [Promise.resolve(true), Promise.resolve(false)],
  ])('is the one for whose arguments a function says so: %s', async (yes, no) => {
    const needsApproval = vi.fn((args: { amount: number }) => (args.amount > 10 ? yes : no))
    const { tool, calls } = noting('refund', { needsApproval: needsApproval as never })
    const some = agent(
      async function* (_, { callTool }) {
        yield* callTool('refund', { amount: 3 })
        yield* callTool('refund', { amount: 30 })
        yield 'done'
      },
      [tool],
    )
    const first = await talk(some, { options: { apiKey: 'sk-1', userId: 'ada', apiKeys: { x: 'sk-2' } } })
    expect(calls).toEqual([{ amount: 3 }])
    expect(pathsIn(first)).toEqual(['refund#2'])
    expect((await first.say('yes')).text).toBe('done')
    expect(calls).toEqual([{ amount: 3 }, { amount: 30 }])
    // Once for each call, with who asks and no key of a model's provider.
    expect(needsApproval).toHaveBeenCalledTimes(2)
    for (const [, caller] of needsApproval.mock.calls as unknown as [unknown, object][]) {
      expect(caller).toMatchObject({ userId: 'ada' })
      expect(JSON.stringify(caller)).not.toContain('sk-')
    }
  })

  it('fails as a tool does where the function throws', async () => {
    const needsApproval = () => {
      throw new Error('cannot tell')
    }
    const { tool, calls } = noting('refund', { needsApproval })
    const { events } = await talk(refunding(tool))
    expect(events.at(-2)).toMatchObject({ type: 'tool_call_end', error: 'cannot tell' })
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'agent_failed' })
    expect(calls).toEqual([])
  })

  it.each([
    ['too much', 'The call was denied: too much'],
    [undefined, 'The call was denied'],
    ['', 'The call was denied'],
  ])('is not run when it is denied with the reason %j', async (reason, error) => {
    const { tool, calls } = noting('refund', { needsApproval: true })
    const first = await talk(refunding(tool))
    const { id = '', toolCallId } = first.requests[0] ?? {}
    const last = await first.answer({ id, decision: 'deny', ...(reason !== undefined && { reason }) })
    expect(calls).toEqual([])
    const code = 'approval_denied'
    expect(last.events).toMatchObject([
      { type: 'tool_call_start', toolCall: { id: toolCallId } },
      { type: 'tool_call_delta', toolCallId },
      { type: 'tool_call_ready', toolCallId },
      { type: 'tool_call_end', toolCallId, error, code },
      { type: 'error', error, code },
    ])
  })

  it('may be denied and caught, and the body goes on', async () => {
    const { tool, calls } = noting('refund', { needsApproval: true })
    const polite = agent(
      async function* (_, { ask, callTool }) {
        try {
          yield* callTool('refund', { amount: 5 })
        } catch (error) {
          yield `No: ${(error as { code?: string }).code}. `
        }
        yield `Then ${yield* ask('then')}`
      },
      [tool],
    )
    const denied = await (await talk(polite)).say('no')
    expect(denied.text).toBe('No: approval_denied. ')
    expect(pathsIn(denied)).toEqual(['then'])
    const last = await denied.say('bye')
    expect([last.text, last.code]).toEqual(['Then bye', undefined])
    expect(calls).toEqual([])
  })

  it('may be edited where it says so, and both versions are kept', async () => {
    const parameters = { type: 'object', required: ['amount'] }
    const { tool, calls } = noting('refund', { needsApproval: true, editable: true, parameters })
    const first = await talk(
      agent(
        async function* (_, { ask, callTool }) {
          yield* callTool('refund', { amount: 5 })
          yield* ask('on')
        },
        [tool],
      ),
    )
    expect(first.requests[0]).toMatchObject({ editable: true, schema: parameters })
    const { id = '' } = first.requests[0] ?? {}
    for (const editedArgs of [null, 'x', [], { cents: 1 }]) {
      const answer = { id, decision: 'approve', editedArgs } as const
      await expect(first.answer(answer)).rejects.toMatchObject({
        code: 'invalid_body',
        message: expect.stringContaining('`answers[0].editedArgs`'),
      })
    }
    const second = await first.answer({ id, decision: 'approve', editedArgs: { amount: 3 } })
    expect(calls).toEqual([{ amount: 3 }])
    expect(second.events[2]).toMatchObject({ type: 'tool_call_ready', args: { amount: 3 } })
    expect(second.waiting?.work.answered).toMatchObject([
      { request: { args: { amount: 5 } }, answer: { editedArgs: { amount: 3 } } },
    ])
  })

  it('is asked for again where edited arguments do not fit the schema of a library', async () => {
    const parameters = z.object({ amount: z.number().max(10, 'too much').default(1) })
    const { tool, calls } = noting('refund', { needsApproval: true, editable: true, parameters })
    const first = await talk(refunding(tool))
    const edited = (now: Talk, editedArgs: unknown) =>
      now.answer({ id: now.requests[0]?.id ?? '', decision: 'approve', editedArgs })
    const second = await edited(first, { amount: 1000 })
    expect(calls).toEqual([])
    expect(second.requests).toMatchObject([
      { id: `${second.id}/refund`, message: '`amount`: too much', args: { amount: 5 }, editable: true },
    ])
    expect(second.requests[0]?.toolCallId).toBe(first.requests[0]?.toolCallId)
    const last = await edited(second, {})
    expect(last.text).toBe('Result: refunded')
    // As the schema has it.
    expect(calls).toEqual([{ amount: 1 }])
  })

  it('is not edited where it does not say so', async () => {
    const { tool, calls } = noting('refund', { needsApproval: true })
    const first = await talk(refunding(tool))
    const answer = { id: first.requests[0]?.id ?? '', decision: 'approve', editedArgs: {} } as const
    await expect(first.answer(answer)).rejects.toMatchObject({ code: 'invalid_body' })
    expect(calls).toEqual([])
  })

  it('fails where nothing can be kept, before it starts', async () => {
    const { tool, calls } = noting('refund', { needsApproval: true })
    const { events } = await talk(refunding(tool), { caller: { whyUnkept: 'Nothing is kept here' } })
    expect(calls).toEqual([])
    expect(events.at(-2)).toMatchObject({ type: 'tool_call_end', code: 'runs_not_stored' })
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'runs_not_stored' })
  })
})

describe('members', () => {
  const asking = (name: string) =>
    agent(
      async function* (_, { ask }) {
        yield `${name} asks. `
        yield `${name} got ${yield* ask('ok')}. `
      },
      [],
      name,
    )

  const team = (name: string, members: readonly (Agent | Team)[], strategy = sequence) =>
    new Team({ name, members: members as never, strategy, register: false })

  it('make their team wait, and have their own place in the ids', async () => {
    const first = await talk(team('team', [asking('x'), asking('y')], together))
    expect(pathsIn(first)).toEqual(['x/ok', 'y/ok'])
    expect(first.text).toBe('x asks. \n\ny asks. ')
    const last = await first.say(1, 2)
    expect(last.text).toBe('x got 1. \n\ny got 2. ')
  })

  it('in a row wait one after the other, and the next one gets all that was said', async () => {
    const inputs: unknown[] = []
    const listening = agent(
      async function* (input, { ask }) {
        inputs.push(input)
        yield `${yield* ask('ok')}`
      },
      [],
      'y',
    )
    const first = await talk(team('team', [asking('x'), listening]))
    expect(pathsIn(first)).toEqual(['x/ok'])
    const second = await first.say(1)
    expect(pathsIn(second)).toEqual(['y/ok'])
    expect((await second.say('end')).text).toBe('end')
    expect(inputs).toEqual(['x asks. x got 1. ', 'x asks. x got 1. '])
  })

  it('may be teams with members of their own', async () => {
    const inner = team('inner', [asking('x'), asking('y')], together)
    const outer = team('outer', [inner, asking('z')], together)
    const first = await talk(outer)
    expect(pathsIn(first)).toEqual(['inner/x/ok', 'inner/y/ok', 'z/ok'])
    const part = await first.answer(
      { id: first.requests[2]?.id ?? '', value: 3 },
      { id: first.requests[0]?.id ?? '', value: 1 },
    )
    expect(pathsIn(part)).toEqual(['inner/y/ok'])
    const last = await part.say(2)
    expect(last.text.split(/\s*\n\n/)).toEqual(expect.arrayContaining(['z got 3. ']))
    for (const each of ['x got 1', 'y got 2', 'z got 3']) expect(last.text.split(each)).toHaveLength(2)
    expect(last.text).not.toContain('asks')
  })

  it('tell what they used once, in the run that waits or in the one that goes on', async () => {
    const used = (tokens: number) => ({ promptTokens: tokens, completionTokens: 0, totalTokens: tokens })
    const usageIn = ({ events }: Talk) => {
      const last = events.at(-1)
      return last?.type === 'finish' ? last.usage : undefined
    }
    const ready = foreign('ready', async function* () {
      yield { type: 'finish', finishReason: 'stop', usage: used(1) } satisfies FinishEvent
    })
    const model = { provider: 'fake', id: 'm' }
    const waiting = foreign('waiting', async function* ({ runId = '', answers }: RunOptions = {}) {
      const request = { id: `${runId}/waiting/a`, kind: 'question', digest: 'd' } as const
      const finish = { type: 'finish', finishReason: 'input_required', requests: [request] } as const
      if (answers === undefined) yield { ...finish, usage: used(10) } satisfies FinishEvent
      else yield { type: 'finish', finishReason: 'stop', usage: used(100) } satisfies FinishEvent
    })
    const priced = Object.assign(waiting, { model })
    const first = await talk(team('team', [ready, priced] as never, together))
    expect(usageIn(first)).toEqual({ ...used(10), models: [{ model: 'fake/m', ...used(10) }] })
    const last = await first.say(1)
    expect(usageIn(last)).toMatchObject({ ...used(101), models: [{ model: 'fake/m', ...used(100) }] })
  })

  it('that have ended are not run again', async () => {
    const work = vi.fn(() => 'ready')
    const ready = agent(() => work(), [], 'ready')
    const first = await talk(team('team', [ready, asking('x')], together))
    expect(first.text).toBe('ready\n\nx asks. ')
    expect((await first.say(1)).text).toBe('x got 1. ')
    expect(work).toHaveBeenCalledOnce()
  })

  it('are called again by the same name', async () => {
    const calling = flow(async function* (input, { call }) {
      const texts = []
      for (let index = 0; index < 3; index++) texts.push((yield* call(asking('x'), input)).text)
      return texts.join('|')
    })
    let now = await talk(calling)
    for (const [index, path] of ['x/ok', 'x#2/ok', 'x#3/ok'].entries()) {
      expect(pathsIn(now)).toEqual([path])
      now = await now.say(index)
    }
    expect(now.events.at(-2)).toMatchObject({ type: 'text' })
    expect(now.text).toBe('x got 2. ')
  })

  it("of other people's making must name the run in their requests", async () => {
    const strange = (id: (runId: string) => string) =>
      foreign('strange', async function* (options?: RunOptions) {
        const request = { id: id(options?.runId ?? ''), kind: 'question', digest: 'd' } as const
        yield { type: 'finish', finishReason: 'input_required', requests: [request] } satisfies FinishEvent
      })
    expect((await talk(strange(() => 'other/a'))).code).toBe('invalid_event')
    expect((await talk(strange(runId => runId))).code).toBe('invalid_event')
    expect(pathsIn(await talk(strange(runId => `${runId}/a`)))).toEqual(['a'])
  })

  it("of other people's making that wait for nothing have ended", async () => {
    const strange = foreign('strange', async function* () {
      yield { type: 'finish', finishReason: 'input_required', requests: [] } satisfies FinishEvent
    })
    const { waiting, events } = await talk(strange)
    expect(waiting).toBeUndefined()
    expect(events).toMatchObject([{ finishReason: 'input_required' }])
  })
})

describe('workflows', () => {
  it('branch and loop', async () => {
    const done: string[] = []
    const shop = flow(async function* (input, { ask, step }) {
      const items = []
      while ((yield* ask('more', { schema: { type: 'boolean' } })) === true) {
        items.push(yield* step('item', () => done.push('item')))
      }
      if (items.length > 1) yield* step('wrap', () => done.push('wrap'))
      return `${textOf(input)}: ${items.join()}`
    })
    let now = await talk(shop)
    for (const more of [true, true, false]) now = await now.say(more)
    expect(now.text).toBe('hi: 1,2')
    expect(done).toEqual(['item', 'item', 'wrap'])
  })

  it('of `steps` wait in any step', async () => {
    const seen: unknown[] = []
    const listed = new Workflow({
      name: 'listed',
      register: false,
      steps: steps()
        .step('first', input => `${textOf(input)}!`)
        .step('second', async function* (text, { ask }) {
          yield 'hearing '
          seen.push(text)
          return `${text} ${yield* ask('what')}`
        })
        .step('third', async function* (text, { ask }) {
          yield `${text} `
          return `${yield* ask('end')}`
        }),
    })
    const first = await talk(listed)
    expect(pathsIn(first)).toEqual(['second/what'])
    const progress = ({ events }: Talk) => events.flatMap(e => (e.type === 'step' && e.text ? [e.text] : []))
    expect(progress(first)).toEqual(['hearing '])
    const second = await first.say('well')
    expect(progress(second)).toEqual([])
    expect(second.text).toBe('hi! well ')
    const last = await second.say('end')
    expect(last.text).toBe('')
    expect(seen).toEqual(['hi!', 'hi!'])
  })

  it('call agents and other workflows, and those wait', async () => {
    const { tool, calls } = noting('refund', { needsApproval: true })
    const payer = agent(
      async function* (_, context) {
        yield `${yield* context.callTool('refund', 5)} `
      },
      [tool],
      'payer',
    )
    const inner = new Workflow({
      name: 'inner',
      register: false,
      steps: steps().step('pay', async function* (input, { call }) {
        return (yield* call(payer, input)).text
      }),
    })
    const outer = flow(async function* (input, { call, parallel, step }) {
      const [paid, other] = yield* parallel([call(inner, input), step('other', () => 'other')])
      return `${paid.text}${other}`
    })
    const first = await talk(outer)
    expect(pathsIn(first)).toEqual(['inner/pay/payer/refund'])
    expect(first.requests[0]).toMatchObject({ kind: 'approval', toolName: 'refund', args: 5 })
    const last = await first.say('yes')
    expect(last.text).toContain('refunded')
    expect(calls).toEqual([5])
  })
})

describe('a body that is another one when it runs again', () => {
  const { tool } = noting('look')
  const { tool: pay, calls: paid } = noting('pay', { needsApproval: true })

  type Doing = (context: AgentContext) => AsyncGenerator<string | RunEvent, unknown>

  /** Does the first thing, and the second one when it goes on. */
  async function changed(before: Doing, after: Doing) {
    let doing = before
    const fickle = agent(
      async function* (_, context) {
        yield* doing(context)
      },
      [tool, pay],
    )
    const first = await talk(fickle)
    doing = after
    return first.say('yes')
  }

  const named = (name: string): Doing =>
    async function* ({ ask, step }) {
      yield* step(name, () => 1)
      yield* ask('on')
    }
  const askOf =
    (name: string): Doing =>
    ({ ask }) =>
      ask(name)
  const stepOf =
    (name: string): Doing =>
    ({ step }) =>
      step(name, () => 1)
  const askIn =
    (name: string): Doing =>
    ({ step }) =>
      step(name, async function* (inner) {
        yield* inner.ask('on')
      })

  it.each<[string, Doing, Doing]>([
    ['has another name', named('one'), named('other')],
    ['leaves a step out', named('one'), askOf('on')],
    ['does one more before', askOf('on'), named('one')],
    ['asks for something else', askOf('on'), askOf('off')],
    ['ends early', named('one'), async function* () {}],
    [
      'ends early, with an event',
      named('one'),
      async function* () {
        yield { type: 'finish', finishReason: 'stop' }
      },
    ],
    [
      'calls a tool in the place of a step',
      named('look'),
      async function* ({ ask, callTool }) {
        yield* callTool('look', {})
        yield* ask('on')
      },
    ],
    [
      'does a step in the place of a tool',
      async function* ({ ask, callTool }) {
        yield* callTool('look', {})
        yield* ask('on')
      },
      named('look'),
    ],
    [
      'sleeps in the place of a step',
      named('one'),
      async function* ({ ask, sleep }) {
        yield* sleep('one', 0)
        yield* ask('on')
      },
    ],
    [
      'asks in the place of a step',
      named('one'),
      async function* ({ ask }) {
        yield* ask('one')
        yield* ask('on')
      },
    ],
    ['does a step in the place of a question', askOf('on'), stepOf('on')],
    [
      'calls a tool that needs approval in the place of a question',
      askOf('pay'),
      ({ callTool }) => callTool('pay', { all: true }),
    ],
    ['asks in the place of an approval', ({ callTool }) => callTool('pay', 1), askOf('pay')],
    ['asks in the place of a step that waits', askIn('one'), askOf('one')],
    ['leaves the question out of a step', askIn('one'), stepOf('one')],
    [
      'has another question in a step',
      askIn('one'),
      ({ step }) =>
        step('one', async function* (inner) {
          yield* inner.ask('off')
        }),
    ],
  ])('fails with `code_changed`: it %s', async (_, before, after) => {
    const { code, error, events } = await changed(before, after)
    expect([code, error]).toEqual(['code_changed', expect.stringContaining('The run cannot go on: at `')])
    expect(events.filter(({ type }) => type !== 'step')).toHaveLength(1)
    expect(paid).toEqual([])
  })

  it('goes on where it does more after that', async () => {
    const { code, text } = await changed(askOf('on'), async function* ({ ask, step }) {
      yield* ask('on')
      yield `${yield* step('more', () => 1)}`
    })
    expect([code, text]).toEqual([undefined, '1'])
  })

  it('fails in a member too', async () => {
    let name = 'on'
    const member = agent(
      async function* (_, { ask }) {
        yield* ask(name)
      },
      [],
      'member',
    )
    const first = await talk(
      new Team({ name: 'team', members: [member], strategy: sequence, register: false }),
    )
    name = 'off'
    expect((await first.say(1)).code).toBe('code_changed')
  })

  it('may fail by itself', async () => {
    const { code, error } = await changed(named('one'), async function* () {
      throw new Error('by itself')
      // biome-ignore lint/correctness/noUnreachable: it is a generator.
      yield ''
    })
    expect([code, error]).toEqual(['agent_failed', 'by itself'])
  })
})

describe('a run that goes on', () => {
  it('tells nothing that was told, of any kind', async () => {
    const { tool } = noting('look')
    const loud = agent(
      async function* (_, { ask, callTool }) {
        yield { type: 'thinking', text: 'hm' }
        yield* callTool('look', 1)
        yield { type: 'artifact', artifactId: 'a', parts: [{ type: 'text', text: 'x' }] }
        yield { type: 'message', parts: [{ type: 'text', text: 'm' }] }
        yield* ask('on')
        yield 'after'
      },
      [tool],
    )
    const first = await talk(loud)
    const told = ['thinking', 'tool_call_start', 'tool_call_delta', 'tool_call_ready', 'tool_call_end']
    expect(typesIn(first)).toEqual([...told, 'artifact', 'message', 'finish'])
    expect(typesIn(await first.say(1))).toEqual(['text', 'finish'])
  })

  it('is as quick with ten thousand pieces of work inside of others', async () => {
    const deep = agent(async function* (_, { ask, step }) {
      for (let index = 0; index < 4000; index++) {
        yield* step('outer', async function* (inner) {
          yield* inner.step('inner', () => index)
        })
      }
      yield `${yield* ask('on')}`
    })
    const first = await talk(deep)
    expect(textIn(first.events)).toBe('')
    // What stands for its parts is kept without them.
    expect(first.waiting?.work.done).toHaveLength(4000)
    expect((await first.say('on')).text).toBe('on')
  })
})
