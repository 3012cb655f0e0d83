/** Whatever a body does, and in whatever order it is answered: each effect happens once, and all is said once. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callServable } from '../../src/agents/work/call.ts'
import { Agent, type AgentConfig, type AgentContext, type Yielded } from '../../src/index.ts'
import { type Talk, talk } from './talk.ts'

/** A part of a program. A name is of its place in the program, or one of a few. */
type Part =
  | { readonly does: 'say' | 'step' | 'ask' | 'tool' | 'approve' | 'fail'; readonly name: string }
  | {
      readonly does: 'inside' | 'member' | 'parallel'
      readonly name: string
      readonly parts: readonly Part[]
    }

type Program = readonly Part[]

const LEAVES = ['say', 'step', 'ask', 'tool', 'approve', 'fail'] as const

const leaf = fc.record({ does: fc.constantFrom(...LEAVES), name: fc.constantFrom('a', 'b', 'c/#%') })

const { program } = fc.letrec<{ program: Program; part: Part }>(tie => ({
  program: fc.array(tie('part'), { minLength: 1, maxLength: 5, depthIdentifier: 'program' }),
  part: fc.oneof(
    { depthIdentifier: 'program', maxDepth: 3 },
    { arbitrary: leaf, weight: 4 },
    {
      arbitrary: fc.record({
        does: fc.constantFrom('inside' as const, 'member' as const, 'parallel' as const),
        name: fc.constantFrom('d', 'e'),
        parts: tie('program'),
      }),
      weight: 2,
    },
  ),
}))

/** What a program does to the world. */
interface World {
  /** By place, how often it was done. */
  readonly effects: Map<string, number>
  /** Numbers that say how long something takes. */
  readonly turns: () => number
}

/** Takes a few turns, not the same in each run. */
async function pause({ turns }: World): Promise<void> {
  for (let left = turns(); left > 0; left--) await new Promise(resolve => setImmediate(resolve))
}

async function happen(world: World, place: string): Promise<string> {
  await pause(world)
  world.effects.set(place, (world.effects.get(place) ?? 0) + 1)
  await pause(world)
  return `did ${place}`
}

/** Runs a program at its place. In `parallel` each part has a name of its own. */
async function* perform(
  parts: Program,
  context: AgentContext,
  world: World,
  { place = '', isApart = false } = {},
): AsyncGenerator<Yielded, unknown[]> {
  const values: unknown[] = []
  for (const [index, part] of parts.entries()) {
    const here = `${place}.${index}`
    const name = isApart ? `${part.name}${here}` : part.name
    values.push(yield* perform1({ ...part, name }, context, world, here))
    yield `«${here}»`
  }
  return values
}

async function* perform1(
  part: Part,
  context: AgentContext,
  world: World,
  place: string,
): AsyncGenerator<Yielded, unknown> {
  const { name } = part
  switch (part.does) {
    case 'say':
      await pause(world)
      return place
    case 'step':
      return yield* context.step(name, () => happen(world, place))
    case 'ask':
      return yield* context.ask(name, { message: place })
    case 'inside':
      return yield* context.step(name, async function* (inner) {
        return yield* perform(part.parts, inner, world, { place })
      })
    case 'parallel':
      return yield* context.parallel(
        part.parts.map((each, index) => {
          const here = `${place}.${index}`
          return perform([each], context, world, { place: here, isApart: true })
        }),
      )
    case 'member':
      return yield* member(name, context, async function* (_, its) {
        yield `«${JSON.stringify(yield* perform(part.parts, its, world, { place }))}»`
      })
    case 'tool':
    case 'approve':
    case 'fail': {
      const { does } = part
      // Tools that are called at once have no names of their own, but members have.
      if (!name.includes('.')) return yield* toolOf(does, context, world, place)
      return yield* member(name, context, async function* (_, its) {
        yield `«${yield* toolOf(does, its, world, place)}»`
      })
    }
  }
}

async function* member(
  name: string,
  context: AgentContext,
  run: AgentConfig['run'],
): AsyncGenerator<Yielded, string> {
  const { text } = yield* callServable(agentOf(name, run), 'go', context)
  return sorted(text).join('')
}

const agentOf = (name: string, run: AgentConfig['run']): Agent =>
  new Agent({ name, run, tools, register: false })

/** What the tools do, by the id that they are called with. */
const deeds = new Map<string, () => Promise<string>>()
const doing = ({ deed }: { deed: string }) => deeds.get(deed)?.()
const tools = [
  { name: 'tool', execute: doing },
  { name: 'approve', needsApproval: true, execute: doing },
  {
    name: 'fail',
    async execute(args: { deed: string }) {
      throw new Error(await doing(args))
    },
  },
] as never

async function* toolOf(
  does: 'tool' | 'approve' | 'fail',
  { callTool }: AgentContext,
  world: World,
  place: string,
): AsyncGenerator<Yielded, string> {
  const deed = crypto.randomUUID()
  deeds.set(deed, () => happen(world, place))
  try {
    return `${yield* callTool(does, { deed })}`
  } catch (error) {
    return `caught ${(error as Error).message}`
  }
}

/** The places of all that has an effect. */
function effectsOf(parts: Program, place = ''): string[] {
  return parts.flatMap((part, index) => {
    const here = `${place}.${index}`
    if (!('parts' in part)) return ['step', 'tool', 'approve', 'fail'].includes(part.does) ? [here] : []
    if (part.does !== 'parallel') return effectsOf(part.parts, here)
    return part.parts.flatMap((each, lane) => effectsOf([each], `${here}.${lane}`))
  })
}

const hasLanes = (parts: Program): boolean =>
  parts.some(part => part.does === 'parallel' || ('parts' in part && hasLanes(part.parts)))

/** Numbers that look random, from a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed % 2_147_483_647 || 1
  return below => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

/** Runs a program to its end; what is asked is answered in any order and in any portions. */
async function play(parts: Program, seed: number) {
  const random = numbers(seed)
  const effects = new Map<string, number>()
  const world: World = { effects, turns: () => random(4) }
  const root = agentOf('root', async function* (_, context) {
    yield `«${JSON.stringify(yield* perform(parts, context, world))}»`
  })
  let now: Talk = await talk(root)
  let text = now.text
  while (now.requests.length > 0) {
    const shuffled = now.requests.toSorted(() => random(3) - 1)
    const some = shuffled.slice(0, 1 + random(shuffled.length))
    const before = now.id
    now = await now.answer(
      ...some.map(({ id, kind, message }) =>
        kind === 'approval' ? ({ id, decision: 'approve' } as const) : { id, value: message },
      ),
    )
    if (now.id !== before) text += now.text
  }
  return { text, effects, end: now }
}

/** The parts of what was said, in an order that does not depend on whose turn came first. */
const sorted = (text: string) => text.split(/(?<=»)/).toSorted()

/** What a program says if it is never asked to wait: its questions have their answers. */
async function playThrough(parts: Program): Promise<string> {
  const world: World = { effects: new Map(), turns: () => 0 }
  const root = agentOf('root', async function* (_, context) {
    yield `«${JSON.stringify(yield* perform(answeredIn(parts), context, world))}»`
  })
  return (await talk(root)).text
}

/** The same program without anything to wait for: only what it gives is as if. */
function answeredIn(parts: Program): Program {
  return parts.map(part => {
    if ('parts' in part) return { ...part, parts: answeredIn(part.parts) }
    return part.does === 'approve'
      ? { ...part, does: 'tool' }
      : part.does === 'ask'
        ? { ...part, does: 'say' }
        : part
  })
}

describe('any program', () => {
  it('does each effect once and says all that it says once, however it is answered', async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.integer({ min: 1 }), async (parts, seed) => {
        const { text, effects, end } = await play(parts, seed)
        expect([end.code, end.error]).toEqual([undefined, undefined])
        const places = effectsOf(parts)
        expect([...effects.keys()].toSorted()).toEqual(places.toSorted())
        for (const [place, times] of effects) expect([place, times]).toEqual([place, 1])
        const through = await playThrough(parts)
        if (hasLanes(parts)) expect(sorted(text)).toEqual(sorted(through))
        else expect(text).toBe(through)
      }),
      { numRuns: 1000 },
    )
  })
})
