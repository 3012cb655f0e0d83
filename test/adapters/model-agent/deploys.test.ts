/** Deploys in the middle of a turn: a call of a tool ends where it began, and the next process goes on after it. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { ModelAgent, type ModelAgentConfig } from '../../../src/adapters/model-agent/index.ts'
import { deferred } from '../../../src/base/wake.ts'
import type { Tool } from '../../../src/index.ts'
import { createLocalHost } from '../../../src/runs/stored/local-host.ts'
import { createWorkingRuns, type WorkingRuns } from '../../../src/runs/stored/working.ts'
import type { Target } from '../../../src/runs/target.ts'
import { ending, eventsIn, read, waitFor } from '../../contracts/run-host/kit.ts'
import { SETTINGS } from '../../contracts/run-host/local.ts'
import { lateBase } from '../../contracts/store/late.ts'
import { never } from '../../support.ts'
import { modelOf, World } from './cutting.ts'

const DEPLOYS = 10

/** The runs at work, whose server ends soon if it is told so. */
function toldSoon(): { working: WorkingRuns; endSoon(): void } {
  const working = createWorkingRuns()
  let isSoon = false
  return {
    working: Object.defineProperties(
      { ...working },
      {
        size: { get: () => working.size },
        isRetiring: { get: () => isSoon },
      },
    ),
    endSoon() {
      isSoon = true
    },
  }
}

it.each([1, 20])(
  'ten deploys in one turn of %i runs at once: each ends, and each call is made once',
  async count => {
    const gates = Array.from({ length: DEPLOYS }, () => deferred<void>())
    const begun = Array<number>(DEPLOYS).fill(0)
    const calls = new Map<string, number>()
    const attempts = new Set<number>()
    const rounds = gates.map((_, round) => ({ calls: [{ id: `c${round}`, tool: 'pay', args: { round } }] }))
    const servable = new ModelAgent({
      name: 'pays',
      register: false,
      model: modelOf('model', rounds, new World()),
      maxSteps: DEPLOYS + 2,
      tools: [
        {
          name: 'pay',
          parameters: { type: 'object' },
          async execute(args, { idempotencyKey, attempt }) {
            const { round } = args as { round: number }
            calls.set(idempotencyKey, (calls.get(idempotencyKey) ?? 0) + 1)
            attempts.add(attempt)
            begun[round]!++
            await gates[round]?.promise
            return { round }
          },
        },
      ],
    })
    const target: Target = { kind: 'agent', name: 'pays', servable }
    const base = lateBase()
    /** A process with its store. */
    const open = () => {
      const store = base.open()
      onTestFinished(() => store.close())
      const { working, endSoon } = toldSoon()
      const settings = { ...SETTINGS, targetOf: () => target, working }
      return { host: createLocalHost({ store, settings, retention: {} }), working, endSoon, store }
    }
    let process = open()
    const start = () =>
      process.host.start({ target, input: 'go', options: {}, owner: null, isBackground: true })
    const ids = (await Promise.all(Array.from({ length: count }, start))).map(({ id }) => id)
    for (let deploy = 0; deploy < DEPLOYS; deploy++) {
      await waitFor(() => begun[deploy] === count)
      process.endSoon()
      gates[deploy]?.resolve()
      const { working, store } = process
      await waitFor(() => working.size === 0)
      process = open()
      store.close()
      // Whoever asks lets it look for what was left.
      await process.host.get(ids[0] ?? '', null)
    }
    for (const id of ids) {
      expect(await ending(process.host, id)).toMatchObject({ status: 'completed' })
      const types = eventsIn(await read(process.host, id)).map(({ type }) => type)
      expect(types.filter(type => type === 'resumed')).toHaveLength(DEPLOYS)
      expect(types.filter(type => type === 'finish')).toHaveLength(1)
    }
    expect([calls.size, new Set(calls.values()), attempts]).toEqual([
      count * DEPLOYS,
      new Set([1]),
      new Set([1]),
    ])
  },
)

it('a run with a key of its client goes on where it is, as nobody else can', async () => {
  const [begun, gate] = [deferred<void>(), deferred<void>()]
  const rounds = [{ calls: [{ id: 'c', tool: 'pay', args: {} }] }]
  const servable = new ModelAgent({
    name: 'pays',
    register: false,
    model: modelOf('model', rounds, new World()),
    tools: [
      {
        name: 'pay',
        parameters: { type: 'object' },
        async execute() {
          begun.resolve()
          await gate.promise
          return 'paid'
        },
      },
    ],
  })
  const target: Target = { kind: 'agent', name: 'pays', servable }
  const store = lateBase().open()
  onTestFinished(() => store.close())
  const { working, endSoon } = toldSoon()
  const settings = { ...SETTINGS, targetOf: () => target, working }
  const host = createLocalHost({ store, settings, retention: {} })
  const options = { apiKey: 'key-of-a-client' }
  const { id } = await host.start({ target, input: 'go', options, owner: null, isBackground: true })
  await begun.promise
  endSoon()
  gate.resolve()
  expect(await ending(host, id)).toMatchObject({ status: 'completed' })
})

describe('a deploy that changes the agent', () => {
  /** The end of a run whose process died in its first call, and goes on with another agent. `asked` is what the model was told. */
  async function deployed(before: Partial<ModelAgentConfig>, after: Partial<ModelAgentConfig>) {
    const begun = deferred<void>()
    const asked: string[] = []
    const rounds = [{ calls: [{ id: 'c', tool: 'pay', args: {} }] }]
    const pay: Tool = {
      name: 'pay',
      parameters: { type: 'object' },
      annotations: { idempotentHint: true },
      execute(_, { attempt }) {
        begun.resolve()
        return attempt === 1 ? never() : 'paid'
      },
    }
    const model = modelOf('model', rounds, new World())
    const open = (config: Partial<ModelAgentConfig>) => {
      const doStream: typeof model.doStream = options => {
        asked.push(JSON.stringify(options.prompt))
        return model.doStream(options)
      }
      const own = { name: 'pays', register: false, model: { ...model, doStream }, tools: [pay], ...config }
      const servable = new ModelAgent(own)
      const target: Target = { kind: 'agent', name: 'pays', servable }
      const store = base.open()
      onTestFinished(() => store.close())
      const host = createLocalHost({
        store,
        settings: { ...SETTINGS, targetOf: () => target },
        retention: {},
      })
      return { host, store, target }
    }
    const base = lateBase()
    const first = open(before)
    const { target } = first
    const { id } = await first.host.start({
      target,
      input: 'go',
      options: {},
      owner: null,
      isBackground: true,
    })
    await begun.promise
    first.store.close()
    const { host } = open(after)
    await host.get(id, null)
    return { record: await ending(host, id), last: asked.at(-1) ?? '' }
  }

  it('with another `version`: its runs at work fail with `code_changed`', async () => {
    const { record } = await deployed({ version: '1' }, { version: '2' })
    expect(record).toMatchObject({ status: 'failed', error: { code: 'code_changed' } })
  })

  it('without a tool whose call was cut off: they fail with `code_changed`, which names the tool', async () => {
    const { record } = await deployed({}, { tools: [] })
    expect(record).toMatchObject({
      status: 'failed',
      error: { code: 'code_changed', message: expect.stringContaining('`pay`') },
    })
  })

  it('with other instructions: they go on, and the model gets the new ones', async () => {
    const { record, last } = await deployed({ instructions: 'Be brief.' }, { instructions: 'Be kind.' })
    expect(record.status).toBe('completed')
    expect([last.includes('Be kind.'), last.includes('Be brief.')]).toEqual([true, false])
  })
})
