import { describe, expect, it } from 'vitest'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  MetricsExporter,
  parallel,
  sequence,
  steps,
  Team,
  type Usage,
  Workflow,
} from '../../src/index.ts'
import { costOf } from '../../src/runs/pricing.ts'

const PRICING = { 'acme/small': { prompt: 1, completion: 2 }, large: { prompt: 10, completion: 20 } }

const usage = (tokens: number, cost?: number): Usage => ({
  promptTokens: tokens,
  completionTokens: tokens,
  totalTokens: 2 * tokens,
  ...(cost !== undefined && { cost }),
})

const agent = (name: string, id: string | undefined, used: Usage) =>
  new Agent({
    name,
    register: false,
    ...(id !== undefined && { model: { provider: 'acme', id } }),
    run: () => ({ text: name, usage: used }),
  })

const small = agent('small', 'small', usage(1_000_000))
const large = agent('large', 'large', usage(1_000_000))
const unknown = agent('unknown', undefined, usage(1_000_000))
const dear = agent('dear', undefined, usage(1, 0.5))

const teamOf = (name: string, ...members: Agent[]) =>
  new Team({ name, register: false, members, strategy: name === 'parallel' ? parallel : sequence })

const workflow = new Workflow({
  name: 'workflow',
  register: false,
  steps: steps()
    .step('one', (input, context) => context.call(small, input))
    .step('two', (_, context) => context.call(large, 'x')),
})

/** What a run cost, and what its answer says of usage. */
async function costIn(options: HandlerOptions, kind: 'agent' | 'team' | 'workflow', name: string) {
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: { small, large, unknown },
    teams: {
      both: teamOf('both', small, large),
      parallel: teamOf('parallel', small, large),
      mixed: teamOf('mixed', small, dear, unknown),
      nested: teamOf('nested', small, teamOf('inner', small, large) as never),
    },
    workflows: { workflow },
    metricsExporter: new MetricsExporter(),
    ...options,
  })
  const ask = (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1/api/${path}`, init))
  const headers = { 'content-type': 'application/json' }
  const answer = await ask(`${kind}s/${name}/run`, { method: 'POST', body: '{"input":"x"}', headers })
  const result = (await answer.json()) as { usage: Usage }
  const text = await (await ask('metrics')).text()
  const prefix = kind === 'agent' ? 'agent' : kind
  const line = text
    .split('\n')
    .find(each => each.startsWith(`service_${prefix}_cost`) && each.includes(`"${name}"`))
  return { usage: result.usage, cost: Number(line?.split(' ').at(-1)) }
}

describe('`pricing` of a handler', () => {
  it.each([
    ['agent', 'small', 3],
    ['agent', 'large', 30],
    ['agent', 'unknown', 0],
    ['team', 'both', 33],
    ['team', 'parallel', 33],
    ['team', 'mixed', 3.5],
    ['team', 'nested', 36],
    ['workflow', 'workflow', 33],
  ] as const)('says what a run of the %s `%s` costs: the sum of what was used', async (kind, name, cost) => {
    expect((await costIn({ pricing: PRICING }, kind, name)).cost).toBeCloseTo(cost)
  })

  it("stands beside the exporter's own prices, which come first", async () => {
    const metricsExporter = new MetricsExporter({ pricing: { 'acme/small': { prompt: 0, completion: 0 } } })
    expect((await costIn({ pricing: PRICING, metricsExporter }, 'team', 'both')).cost).toBeCloseTo(30)
    const alone = new MetricsExporter({ pricing: PRICING })
    expect((await costIn({ metricsExporter: alone }, 'team', 'both')).cost).toBeCloseTo(33)
  })

  it('lets a run say what each model used', async () => {
    const { usage: told } = await costIn({}, 'team', 'both')
    expect(told).toEqual({
      ...usage(2_000_000),
      models: [
        { model: 'acme/small', ...usage(1_000_000) },
        { model: 'acme/large', ...usage(1_000_000) },
      ],
    })
  })

  it.each([
    [{ m: 5 }, 'pricing.m'],
    [{ m: { prompt: 1 } }, 'pricing.m'],
    [{ m: { prompt: 1, completion: -1 } }, 'pricing.m'],
    [{ m: { prompt: 1, completion: Number.NaN } }, 'pricing.m'],
    [[], 'pricing'],
  ])('is checked: %j', (pricing, member) => {
    expect(() => createHandler({ pricing: pricing as never })).toThrow(member)
  })
})

describe('costOf', () => {
  const model = { provider: 'acme', id: 'small' }

  it.each([
    ['the price of its model', usage(1_000_000), 3],
    ['what it tells itself', usage(1_000_000, 7), 7],
    ['the sum of its parts', { ...usage(0, 7), models: [{ model: 'acme/large', ...usage(1_000_000) }] }, 30],
    [
      'what it tells itself where no part has a price',
      { ...usage(0, 7), models: [{ model: 'x/y', ...usage(1) }] },
      7,
    ],
    ['what a part tells', { ...usage(0), models: [{ model: 'acme/large', ...usage(1, 0.5) }] }, 0.5],
    ['nothing of parts that are none', { ...usage(1_000_000), models: [null, 5, {}] as never }, 3],
    ['nothing of parts that are no list', { ...usage(1_000_000), models: 'many' as never }, 3],
  ])('is %s', (_, used, cost) => {
    expect(costOf(used, model, [PRICING])).toBeCloseTo(cost)
  })

  it('is unknown where nobody has a price', () => {
    expect(costOf(usage(1), undefined, [PRICING])).toBeUndefined()
    expect(costOf(usage(1), model, [])).toBeUndefined()
    expect(costOf(usage(1), { provider: 'x', id: 'constructor' }, [PRICING])).toBeUndefined()
  })
})
