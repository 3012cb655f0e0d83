import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  Agent,
  type RunEvent,
  type RunInput,
  type Steps,
  steps,
  textOf,
  Workflow,
  type WorkflowConfig,
} from '../../src/index.ts'
import { eventually } from '../eventually.ts'
import { drain, speaker, textIn, untyped } from '../support.ts'
import { talk } from './talk.ts'

const workflowOf = (list: Steps<RunInput, unknown>) =>
  new Workflow({ name: 'digest', register: false, steps: list })

const stepsIn = (events: readonly RunEvent[]) =>
  events.flatMap(event =>
    event.type === 'step' ? [`${event.index}:${event.name} ${event.status}${event.text ?? ''}`] : [],
  )

const upper = new Agent({ name: 'upper', register: false, run: input => textOf(input).toUpperCase() })

describe('steps', () => {
  it('types each step by what the one before gives', () => {
    const list = steps()
      .step('split', input => textOf(input).split(' '))
      .step('count', async words => words.length)
      .step('say', async function* (count) {
        yield 'saying'
        return { count }
      })
    expectTypeOf(list).toEqualTypeOf<Steps<RunInput, { count: number }>>()
    expect(list.list.map(({ name }) => name)).toEqual(['split', 'count', 'say'])
  })

  it('gives a new list for every step', () => {
    const first = steps().step('a', () => 1)
    first.step('b', () => 2)
    expect(first.list).toHaveLength(1)
  })

  it('refuses a name that is taken', () => {
    expect(() =>
      steps()
        .step('a', () => 1)
        .step('a', () => 2),
    ).toThrow(expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining('`a`') }))
  })
})

describe('Workflow', () => {
  it('hands the value of each step to the next', async () => {
    const workflow = workflowOf(
      steps()
        .step('split', input => textOf(input).split(' '))
        .step('count', async words => words.length)
        .step('double', count => count * 2),
    )
    const result = await workflow.run('three short words')
    expect(result.text).toBe('6')
    expect(result.steps?.map(({ name, status }) => [name, status])).toEqual([
      ['split', 'completed'],
      ['count', 'completed'],
      ['double', 'completed'],
    ])
  })

  it('tells each step as events, and text on the way as progress', async () => {
    const workflow = workflowOf(
      steps()
        .step('first', async function* () {
          yield 'on the way'
          yield { type: 'thinking', text: 'hm' }
          return 'handed over'
        })
        .step('last', async function* (value) {
          yield `got ${value}`
        }),
    )
    const events = await drain(workflow.stream('hi'))
    expect(stepsIn(events)).toEqual([
      '0:first started',
      '0:first progresson the way',
      '0:first completed',
      '1:last started',
      '1:last completed',
    ])
    expect(events).toContainEqual({ type: 'thinking', text: 'hm', parentId: 'first' })
    expect(textIn(events)).toBe('got handed over')
    expect(events.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
  })

  it.each<[string, unknown, object]>([
    ['text as text', 'done', { text: 'done', structured: null }],
    ['a number as text', 42, { text: '42', structured: null }],
    ['an object as structured', { a: 1 }, { text: '', structured: { a: 1 } }],
    ['an array as structured', [1], { text: '', structured: [1] }],
    ['null as nothing', null, { text: '', structured: null }],
    ['nothing as nothing', undefined, { text: '', structured: null }],
  ])('gives the last value: %s', async (_, value, expected) => {
    expect(await workflowOf(steps().step('only', () => value)).run('hi')).toMatchObject(expected)
  })

  it('runs a servable inside a step', async () => {
    const workflow = workflowOf(
      steps()
        .step('shout', async function* (input, { call }) {
          return (yield* call(upper, input)).text
        })
        .step('greet', shout => `${shout}!`),
    )
    const events = await drain(workflow.stream('hi'))
    expect(textIn(events)).toBe('HI!')
    expect(stepsIn(events)).toContain('0:shout progressHI')
  })

  it('gives a step the run it is in', async () => {
    const workflow = workflowOf(steps().step('a', (_, { runId, sessionId }) => `${runId} ${sessionId}`))
    expect((await workflow.run('hi', { runId: 'r', sessionId: 's' })).text).toBe('r s')
  })

  it('tells a step that throws as failed, starts no other, and fails alike', async () => {
    const later: string[] = []
    const events: RunEvent[] = []
    const workflow = workflowOf(
      steps()
        .step('bad', () => Promise.reject(new RangeError('no')))
        .step('later', () => later.push('started')),
    )
    const reading = async () => {
      for await (const event of workflow.stream('hi')) events.push(event)
    }
    await expect(reading()).rejects.toThrow(RangeError)
    expect(stepsIn(events)).toEqual(['0:bad started', '0:bad failed'])
    expect(later).toEqual([])
  })

  it('fails with what a servable inside a step fails with', async () => {
    const failing = speaker('bad', { type: 'error', error: 'no', code: 'provider_failed' })
    const workflow = workflowOf(steps().step('a', (input, { call }) => call(failing, input)))
    await expect(workflow.run('hi')).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('closes the step under way when its reader leaves', async () => {
    const closed: string[] = []
    const open = async function* () {
      try {
        yield 'x'
        yield 'y'
      } finally {
        closed.push('closed')
      }
    }
    for (const list of [
      steps().step('only', open),
      steps()
        .step('first', open)
        .step('last', () => {}),
    ]) {
      const events = workflowOf(list).stream('hi')
      await events.next()
      await events.next()
      await events.return?.()
    }
    await eventually(() => expect(closed).toEqual(['closed', 'closed']))
  })

  it('takes a run of its user instead of steps', async () => {
    const workflow = new Workflow({
      name: 'own',
      register: false,
      async *run(input, { call }) {
        yield { type: 'step', name: 'one', status: 'started' }
        const { text } = yield* call(upper, input)
        yield { type: 'step', name: 'one', status: 'completed', durationMs: 1 }
        return { structured: { text } }
      },
    })
    expect(workflow.steps).toEqual([])
    expect(await workflow.run('hi')).toMatchObject({
      text: 'HI',
      structured: { text: 'HI' },
      steps: [{ name: 'one', status: 'completed', durationMs: 1 }],
    })
  })

  it('shows what lists need', () => {
    const workflow = new Workflow({
      name: 'w',
      description: 'd',
      register: false,
      steps: steps()
        .step('a', () => 1)
        .step('b', () => 2),
    })
    expect(workflow).toMatchObject({ kind: 'workflow', name: 'w', description: 'd' })
    expect(workflow.steps).toEqual([{ name: 'a' }, { name: 'b' }])
  })

  it('does not take for its answer what a step said that was done before its process died', async () => {
    const workflow = workflowOf(
      steps()
        .step('look', async function* () {
          yield 'looking'
          return 1
        })
        .step('say', count => `found ${count}`),
    )
    const done = [{ path: 'look', kind: 'step', value: 2, text: 'looking' }] as const
    const work = { done, answered: [], states: {}, isCut: true } as const
    const { text } = await talk(workflow, { caller: { cut: { work, sinceMs: 0 } } })
    expect(text).toBe('found 2')
  })

  it('tells its bus of the run', async () => {
    const workflow = workflowOf(steps().step('a', () => 'x'))
    const told: string[] = []
    workflow.events.on('run.start', ({ kind }) => told.push(`${kind} starts`))
    workflow.events.on('run.complete', ({ kind }) => told.push(`${kind} ends`))
    await workflow.run('hi')
    expect(told).toEqual(['workflow starts', 'workflow ends'])
  })

  it.each<[string, Partial<WorkflowConfig>]>([
    ['neither steps nor a run', {}],
    ['no step', { steps: steps() }],
    ['a run that is no function', { run: untyped('now') }],
  ])('refuses %s', (_, config) => {
    expect(() => new Workflow({ name: 'w', register: false, ...config })).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining('`steps`') }),
    )
  })
})
