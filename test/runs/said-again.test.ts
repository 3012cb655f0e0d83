/** What a run that goes on after a crash has told in the end. */
import { describe, expect, it } from 'vitest'
import { Agent, sequence, steps, Team, Workflow } from '../../src/index.ts'
import { createLocalHost } from '../../src/runs/local-host.ts'
import type { RunRecord } from '../../src/runs/record.ts'
import type { Target } from '../../src/runs/target.ts'
import { memoryStore } from '../../src/state/memory.ts'
import type { Store } from '../../src/state/store.ts'
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
    await waitFor(() => this.#isReached)
    // It is taken over before the work can end where it was.
    const next = hostOf(reopened(store), target)
    this.#hasHappened = true
    return ending(next, id)
  }
}

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
