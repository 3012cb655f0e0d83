/**
 * Calls of tools in the middle of which the process dies: they are done again, a person is asked, or they fail, as the tool says.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { Agent, type Servable, type Tool } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { modelOf, type Played, play, seen, toolOf, World } from './cutting.ts'

// The clock alone is the tests': they move it over the rests of runs.
beforeEach(() => void vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const call = (label: string) => ({ id: label, tool: 'pay', args: { label } })

/** Two servables that call the tool `pay` for `a` and then for `b`: one has a model, the other calls it itself. */
const servables: readonly [string, (tool: Tool, world: World) => Servable][] = [
  [
    'a model agent',
    (tool, world) =>
      new ModelAgent({
        name: 'helper',
        model: modelOf('model', [{ calls: [call('a')] }, { calls: [call('b')] }], world),
        register: false,
        tools: [tool],
        resume: true,
      }),
  ],
  [
    'an agent',
    tool =>
      new Agent({
        name: 'helper',
        register: false,
        resume: true,
        tools: [tool],
        async *run(_, context) {
          for (const label of ['a', 'b']) {
            try {
              yield* context.callTool('pay', { label })
            } catch (error) {
              yield `${label}: ${(error as Error).message}`
            }
          }
        },
      }),
  ],
]

/** The labels of the calls that had begun and not ended when the process died. */
function cutOffIn(world: World, { doneBefore }: Played): readonly string[] {
  return ['a', 'b'].filter(label => world.cutInside.has(label) && !doneBefore.has(label))
}

const asked = ({ records }: Played) => records.flatMap(({ requests = [] }) => requests)

describe.each(servables)('a call in %s', (_, servable) => {
  const plain: Partial<Tool> = { annotations: undefined }

  /** Plays it once for each point at which the process may die. */
  async function everywhere(more: Partial<Tool>, check: (cut: Played, world: World, cuts: string[]) => void) {
    const whole = new World()
    const played = await play(servable(toolOf('pay', whole, more), whole), whole, memoryStore())
    expect(played.records).toHaveLength(1)
    const seenCuts = new Set<string>()
    for (let at = 0; at < whole.passed; at++) {
      const world = new World(at)
      const cut = await play(servable(toolOf('pay', world, more), world), world, memoryStore())
      expect([at, cut.deaths]).toEqual([at, 1])
      const cuts = cutOffIn(world, cut)
      for (const each of cuts) seenCuts.add(each)
      check(cut, world, [...cuts])
      for (const keys of world.keys.values()) expect([at, keys.size]).toEqual([at, 1])
    }
    expect([...seenCuts].toSorted()).toEqual(['a', 'b'])
    return played
  }

  it('is done again only if a person says so, by default', async () => {
    await everywhere(plain, (cut, world, cuts) => {
      expect(asked(cut).map(({ args, message }) => [args, message])).toEqual(
        cuts.map(label => [{ label }, expect.stringContaining('may have had its effect')]),
      )
      expect(world.attempts.filter(attempt => attempt === 2)).toHaveLength(cuts.length)
      expect(cut.records.at(-1)?.status).toBe('completed')
      expect([world.begun.get('a'), world.begun.get('b')]).toEqual([
        cuts.includes('a') ? 2 : 1,
        cuts.includes('b') ? 2 : 1,
      ])
    })
  })

  it.each([[{ annotations: { readOnlyHint: true } }], [{ onRepeat: 'run' as const, ...plain }]])(
    'is done again by itself with %j',
    async more => {
      await everywhere(more, (cut, world, cuts) => {
        expect(asked(cut)).toEqual([])
        expect(world.attempts.filter(attempt => attempt === 2)).toHaveLength(cuts.length)
        expect(cut.records.map(({ status }) => status)).toEqual(['completed'])
      })
    },
  )

  it("fails with `onRepeat: 'fail'`, and the run goes on", async () => {
    await everywhere({ ...plain, onRepeat: 'fail' }, (cut, world, cuts) => {
      expect(asked(cut)).toEqual([])
      expect(world.attempts).toEqual([1, 1])
      const [{ status, text = '' } = { status: '' }] = seen(cut)
      expect(status).toBe('completed')
      expect(text.includes('The server stopped in the middle of a call of `pay`')).toBe(cuts.length > 0)
    })
  })

  it('is asked about again if the process dies in the middle of what was approved', async () => {
    const world = new World()
    // The process dies in the middle of the call `a`, three times in a row.
    world.dieInside('a', 3)
    const cut = await play(servable(toolOf('pay', world, plain), world), world, memoryStore())
    expect(cut.deaths).toBe(3)
    expect(asked(cut)).toHaveLength(3)
    expect(world.attempts).toEqual([1, 2, 3, 4, 1])
    expect(world.keys.get('a')?.size).toBe(1)
    expect(cut.records.at(-1)?.status).toBe('completed')
  })
})
