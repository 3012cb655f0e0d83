import { Agent, ServableError, type Tool, textOf } from '../../src/index.ts'
import { shoppingPage } from './shopping-page.ts'
import { usageOf } from './words.ts'

/** What a guest eats, and what a pack of it has and costs, in cents. */
const DINNER = [
  { name: 'Potatoes', each: 0.3, unit: 'kg', pack: 2.5, price: 320 },
  { name: 'Leeks', each: 1, unit: 'stalks', pack: 3, price: 249 },
  { name: 'Bread', each: 0.2, unit: 'loaves', pack: 1, price: 380 },
  { name: 'Apples', each: 1.5, unit: 'pieces', pack: 6, price: 299 },
] as const

/** A line of the list. */
interface Item {
  readonly name: string
  readonly amount: string
  readonly packs: number
  readonly cents: number
}

const list: Tool<{ readonly guests: number }, readonly Item[]> = {
  name: 'list',
  description: 'Lists what a dinner for some guests needs, in whole packs',
  parameters: { type: 'object', properties: { guests: { type: 'integer' } }, required: ['guests'] },
  page: shoppingPage,
  execute: ({ guests }) =>
    DINNER.map(({ name, each, unit, pack, price }) => {
      const amount = Number((guests * each).toFixed(1))
      const packs = Math.ceil(amount / pack)
      return { name, amount: `${amount} ${unit}`, packs, cents: packs * price }
    }),
}

const order: Tool<{ readonly packs: Readonly<Record<string, number>>; readonly total: string }, string> = {
  name: 'order',
  description: 'Orders packs, once a person approves',
  parameters: {
    type: 'object',
    properties: { packs: { type: 'object' }, total: { type: 'string' } },
    required: ['packs', 'total'],
  },
  needsApproval: true,
  execute: ({ packs, total }) => `${Object.keys(packs).length} items for ${total}`,
}

/** Thinks, lists what a dinner needs as a table in markdown, and has its order approved. */
export const caterer: Agent = new Agent({
  name: 'caterer',
  description: 'Plans a dinner for as many guests as you say, and orders it if you approve',
  tools: [list as Tool, order as Tool],
  async *run(input, { callTool }) {
    const message = textOf(input)
    const guests = Number(/(?<!\d)[1-9]\d{0,2}(?!\d)/.exec(message)?.[0] ?? 4)
    yield { type: 'thinking', text: `Soup, bread and apples for ${guests}: ` }
    yield { type: 'thinking', text: 'everything comes in packs, so I round up.' }
    const items = yield* callTool(list, { guests })
    const table = tableOf(guests, items)
    for (const line of table) yield line
    const packs = Object.fromEntries(items.map(({ name, packs }) => [name, packs]))
    const end = yield* ordered(callTool(order, { packs, total: totalOf(items) }))
    yield end
    return { usage: usageOf(message, table.join('') + end) }
  },
})

/** What is said of the order. */
async function* ordered<E>(work: AsyncGenerator<E, string>): AsyncGenerator<E, string> {
  try {
    return `**Ordered:** ${yield* work}.`
  } catch (error) {
    if (!(error instanceof ServableError) || error.code !== 'approval_denied') throw error
    return `*Nothing is ordered.* ${error.message}.`
  }
}

/** The list in markdown, line by line. */
function tableOf(guests: number, items: readonly Item[]): string[] {
  return [
    `## Dinner for ${guests}\n\n`,
    '| what | how much | packs | price |\n',
    '|---|---|--:|--:|\n',
    ...items.map(
      ({ name, amount, packs, cents }) => `| ${name} | ${amount} | ${packs} | ${euros(cents)} |\n`,
    ),
    `\nThat makes **${totalOf(items)}**.\n\n`,
  ]
}

function totalOf(items: readonly Item[]): string {
  return euros(items.reduce((sum, { cents }) => sum + cents, 0))
}

function euros(cents: number): string {
  return `€ ${(cents / 100).toFixed(2)}`
}
