/** What a run that goes on after a crash has told in the end. */
import { describe, expect, it } from 'vitest'
import { Agent, sequence, steps, Team, Workflow, type WorkflowConfig } from '../../src/index.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import type { RunRecord } from '../../src/runs/stored/record.ts'
import type { Target } from '../../src/runs/target.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Store } from '../../src/stores/store.ts'
import { ending, waitFor } from '../contracts/run-host/kit.ts'
import { reopened, SETTINGS } from '../contracts/run-host/local.ts'

/** Waits where a process dies, and does not wait in the next one. */
class Crash {
  readonly place = ({ signal }: { readonly signal?: AbortSignal | undefined }): Promise<void> => {
    if (this.#hasHappened) return Promise.resolve()
    this.#isReached = true
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }
  #hasHappened = false
  #isReached = false

  reached(): Promise<void> {
    return waitFor(() => this.#isReached)
  }

  happened(): void {
    this.#hasHappened = true
  }

  /** Runs it, and lets the process die there. */
  async run(servable: Target['servable'] & Pick<Target, 'kind' | 'name'>): Promise<RunRecord> {
    const target: Target = {
      kind: servable.kind,
      name: servable.name,
      servable,
    }
    const store = memoryStore()
    const { id } = await hostOf(store, target).start({
      ...{ target, input: 'x', options: {}, owner: null, isBackground: true },
    })
    await this.reached()
    // It is taken over before the work can end where it was.
    const next = hostOf(reopened(store), target)
    this.happened()
    return ending(next, id)
  }
}

/** Lets it wait for answers, and die in the run that goes on, unless it `survives`. Gives the answer of that run. */
async function answeredAndCut(bodyOf: (crash: Crash) => BodyOf, survives: boolean): Promise<unknown> {
  const crash = new Crash()
  if (survives) crash.happened()
  const servable = new Workflow({ name: 'flow', register: false, run: bodyOf(crash) })
  const target: Target = { kind: 'workflow', name: 'flow', servable }
  const store = memoryStore()
  const host = hostOf(store, target)
  const common = { target, owner: null, isBackground: true }
  const { id } = await host.start({ ...common, input: 'x', options: {} })
  const { requests = [] } = await ending(host, id)
  const answers = requests.map(request => ({ id: request.id, value: 'yes' }))
  const { next } = await host.answer(id, null, answers, 'next')
  if (next === undefined) throw new Error('it does not go on')
  const { input, continues } = next
  await host.start({ ...common, input, continues, options: { ...next.options, runId: 'next' } })
  if (survives) return (await ending(host, 'next')).result?.text
  await crash.reached()
  const after = hostOf(reopened(store), target)
  crash.happened()
  return (await ending(after, 'next')).result?.text
}

type BodyOf = NonNullable<WorkflowConfig['run']>

function hostOf(store: Store, target: Target) {
  return createLocalHost({
    store,
    settings: { ...SETTINGS, targetOf: () => target },
    retention: {},
  })
}

const agent = (name: string, run: ConstructorParameters<typeof Agent>[0]['run']) =>
  new Agent({ name, register: false, run })

describe('the answer of a run that goes on', () => {
  it('has nothing of what steps and members before said aside', async () => {
    const crash = new Crash()
    const flow = new Workflow({
      name: 'flow',
      register: false,
      steps: steps()
        .step('draft', async function* () {
          yield 'a draft'
        })
        .step('check', (_, context) => crash.place(context))
        .step('answer', () => 'the answer'),
    })
    expect(await crash.run(flow)).toMatchObject({
      result: { text: 'the answer' },
    })
    const other = new Crash()
    const team = new Team({
      ...{ name: 'team', register: false, resume: true, strategy: sequence },
      members: [
        agent('first', () => 'a draft'),
        agent('last', async (_, context) => {
          await other.place(context)
          return 'the answer'
        }),
      ],
    })
    expect(await other.run(team)).toMatchObject({
      result: { text: 'the answer' },
    })
  })

  it('has what messages said in steps that were done', async () => {
    const crash = new Crash()
    const flow = new Workflow({
      name: 'flow',
      register: false,
      async *run(_, { step }) {
        yield* step('greet', async function* () {
          yield {
            type: 'message',
            parts: [{ type: 'text', text: 'Hello ' }],
          } as const
        })
        yield* step('wait', context => crash.place(context))
        yield 'World'
      },
    })
    expect(await crash.run(flow)).toMatchObject({
      result: { text: 'Hello World' },
    })
  })
})

describe('a run that goes on after answers, and dies', () => {
  const asks = new Workflow({
    name: 'asks',
    register: false,
    async *run(_, { ask }) {
      yield 'Hello '
      yield `(${yield* ask('size')})`
    },
  })
  const bodies: Readonly<Record<string, (crash: Crash) => BodyOf>> = {
    'in its own body': crash =>
      async function* (_, { ask, step }) {
        yield 'Hello '
        yield* ask('size')
        yield* step('said', async function* () {
          yield 'big '
        })
        yield* step('wait', context => crash.place(context))
        yield 'World'
      },
    'after another one has asked': crash =>
      async function* (_, { call, step }) {
        const { text } = yield* call(asks, 'x')
        yield* step('wait', context => crash.place(context))
        yield `<${text}>`
      },
    'inside of another one that has asked': crash => {
      const inner = new Workflow({
        name: 'inner',
        register: false,
        async *run(_, { ask, step }) {
          yield 'Hello '
          yield* ask('size')
          yield 'World'
          yield* step('wait', context => crash.place(context))
        },
      })
      return async function* (_, { call }) {
        yield `<${(yield* call(inner, 'x')).text}>`
      }
    },
    'where several at once have asked': crash =>
      async function* (_, { parallel, step }) {
        const lane = (name: string) =>
          step(name, async function* (inner) {
            yield `before ${name} `
            yield* inner.ask('size')
            yield `after ${name} `
          })
        yield* parallel([lane('a'), lane('b')])
        yield* step('wait', context => crash.place(context))
        yield 'end'
      },
  }
  for (const [name, bodyOf] of Object.entries(bodies)) {
    it(`says what it would have said without that: ${name}`, async () => {
      const whole = await answeredAndCut(bodyOf, true)
      expect(whole).not.toBe('')
      expect(await answeredAndCut(bodyOf, false)).toBe(whole)
    })
  }
})

describe('a step that is tried again', () => {
  it('goes on though the attempt that failed before the crash does not fail again', async () => {
    const crash = new Crash()
    let times = 0
    const flow = new Workflow({
      name: 'flow',
      register: false,
      async *run(_, { step }) {
        yield* step(
          'outer',
          async function* (inner) {
            yield* inner.step('first', () => 1)
            if (++times === 1) throw new Error('once')
            yield* inner.step('second', context => crash.place(context))
          },
          { retry: { times: 1, backoff: 0 } },
        )
        yield 'done'
      },
    })
    expect(await crash.run(flow)).toMatchObject({ status: 'completed', result: { text: 'done' } })
  })

  it('may do its own steps again where the time of one was over', async () => {
    let times = 0
    const flow = new Workflow({
      name: 'flow',
      register: false,
      async *run(_, { step }) {
        const work = () => (++times === 1 ? new Promise<never>(() => {}) : 'done')
        const inner = yield* step(
          'outer',
          async function* (inner) {
            return yield* inner.step('inner', work)
          },
          { retry: { times: 1, backoff: 0 }, timeoutMs: 200 },
        )
        yield String(inner)
      },
    })
    expect(await flow.run('x')).toMatchObject({ text: 'done' })
  })
})
