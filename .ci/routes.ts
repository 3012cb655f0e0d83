// The routes of a handler, as the page docs/look-up/routes.md lists them. They come from the OpenAPI documents of handlers that have one part
// more than a bare one.
//   node .ci/routes.ts
// writes the page. A test fails if the page is older than the routes.
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { ToolServerManager } from '../src/adapters/mcp-client/index.ts'
import { localState } from '../src/core/local-state.ts'
import { approvals } from '../src/features/approvals/plugin.ts'
import { budgets } from '../src/features/budgets/plugin.ts'
import { files } from '../src/features/files/plugin.ts'
import { callerKeys } from '../src/features/keys/plugin.ts'
import { schedule, schedules } from '../src/features/schedules/plugin.ts'
import { sessions } from '../src/features/sessions/plugin.ts'
import { webhooks } from '../src/features/webhooks/plugin.ts'
import {
  Agent,
  type HandlerOptions,
  MetricsExporter,
  openapi,
  pausing,
  Registry,
  tool,
} from '../src/index.ts'
import { agUi } from '../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../src/protocols/ai-sdk-ui/plugin.ts'
import { anthropic } from '../src/protocols/anthropic/plugin.ts'
import { langGraph } from '../src/protocols/langgraph-api/plugin.ts'
import { mcp } from '../src/protocols/mcp/plugin.ts'
import { openai } from '../src/protocols/openai/plugin.ts'
import { memoryStore } from '../src/stores/memory.ts'

export const ROUTES_PAGE: string = fileURLToPath(new URL('../docs/look-up/routes.md', import.meta.url))

/** A route as the page tells of it. */
interface Route {
  readonly method: string
  readonly path: string
  readonly tells: string
  /** The statuses of answers that are no failures. */
  readonly answers: readonly string[]
}

const PREFIX = '/api'

const order = tool({ name: 'order', execute: () => 'Ordered' })
const echo = new Agent({ name: 'echo', register: false, corrections: true, run: String })
const admin = { authenticate: () => ({ id: 'ada' }) }
const budget = { maxTokens: 1e6, windowMs: 86_400_000, key: 'owner' } as const
const daily = schedule('echo', { cron: '@daily', input: 'Morning', owner: 'ada' })
const toolkits = [{ name: 'shop', description: 'Orders', tools: [order] }]

/** What adds routes: how a deployment writes it, its page, and the options. */
export const PARTS: readonly (readonly [title: string, page: string, options: HandlerOptions])[] = [
  ['sessions()', '../build/sessions.md', { plugins: [sessions()] }],
  ['files()', '../build/files.md', { plugins: [files()] }],
  ['approvals()', '../build/inbox.md#the-inbox', { plugins: [approvals()] }],
  ['webhooks({ clients: true })', '../connect/webhooks.md', { plugins: [webhooks({ clients: true })] }],
  ['schedules()', '../build/schedules.md', { plugins: [schedules([daily], admin)] }],
  ['pausing()', '../run/budgets.md#pause-an-agent', { plugins: [pausing(admin)] }],
  ['callerKeys()', '../run/keys.md', { plugins: [callerKeys(admin)] }],
  ['budgets()', '../run/budgets.md', { plugins: [budgets(budget, admin)] }],
  ['metricsExporter', '../run/metrics.md', { metricsExporter: new MetricsExporter({ history: true }) }],
  ['toolkits', '../build/agents.md', { toolkits }],
  ['admin', '../build/tool-servers.md', { admin: { ...admin, manager: new ToolServerManager() } }],
  [
    'admin, webhooks()',
    '../connect/webhooks.md',
    { admin: { ...admin, manager: new ToolServerManager() }, plugins: [webhooks()] },
  ],
  ['a2a', '../connect/a2a.md', { a2a: { default: 'echo', push: true, extendedCard: admin } }],
  ['aiSdkUi()', '../connect/ai-sdk-ui.md', { plugins: [aiSdkUi({ agent: 'echo', resume: true })] }],
  ['agUi()', '../connect/ag-ui.md', { plugins: [agUi()] }],
  ['openai()', '../connect/openai.md', { plugins: [openai()] }],
  ['anthropic()', '../connect/anthropic.md', { plugins: [anthropic()] }],
  ['langGraph()', '../connect/langgraph-api.md', { plugins: [langGraph()] }],
  ['mcp()', '../connect/mcp.md', { plugins: [mcp({ tools: true })] }],
]

/** The routes of a handler with these options. Those of teams and workflows are left out, as they are those of agents. */
export function routesOf(options: HandlerOptions): Route[] {
  const { paths } = openapi({
    serve: [echo],
    registry: new Registry(),
    logger: false,
    // Schedules need a store that outlives the process.
    state: localState({ store: memoryStore(), retention: {}, isVolatile: false }),
    runs: { listAnonymous: true, keepInput: true },
    ...options,
  })
  return Object.entries(paths).flatMap(([template, operations]) => {
    const path = template.replace(/\{(\w+)\}/g, ':$1')
    if (/^(\/api)?\/(teams|workflows)\/:/.test(path)) return []
    return Object.entries(operations).map(([method, { summary, responses }]) => ({
      method: method.toUpperCase(),
      path,
      // Protocols of others are described by their owners.
      tells: summary.startsWith(method.toUpperCase()) ? '' : summary,
      answers: Object.keys(responses).filter(status => /^[23]/.test(status)),
    }))
  })
}

/** What a route is known by. */
export const keyOf = ({ method, path }: Route) => `${method} ${path}`

/** The path as the page shows it, below the prefix where it is. */
function shown(path: string): string {
  if (path === PREFIX) return 'the prefix itself'
  return `\`${path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path}\``
}

function tableOf(routes: readonly Route[]): string {
  if (routes.some(({ tells }) => tells !== '')) {
    const rows = routes.map(({ method, path, tells, answers }) =>
      `| \`${method}\` ${shown(path)} | ${tells} | ${answers.join(', ')} |`.replace('` `', ' '),
    )
    return ['| route | does | answers |', '|---|---|---|', ...rows].join('\n')
  }
  const byPath = Map.groupBy(routes, ({ path }) => path)
  const rows = [...byPath].map(
    ([path, each]) => `| ${shown(path)} | ${each.map(({ method }) => `\`${method}\``).join(', ')} |`,
  )
  return ['| path | methods |', '|---|---|', ...rows].join('\n')
}

/** The tables of the page. */
export function tables(): string {
  const bare = routesOf({})
  const known = new Set(bare.map(keyOf))
  const sections = [`## Of every handler\n\n${tableOf(bare)}\n`]
  for (const [title, page, options] of PARTS) {
    const routes = routesOf(options).filter(route => !known.has(keyOf(route)))
    for (const route of routes) known.add(keyOf(route))
    if (routes.length === 0) throw new Error(`\`${title}\` adds no route: take it out of .ci/routes.ts`)
    const outside = routes.filter(({ path }) => !path.startsWith(`${PREFIX}/`)).length
    const note = outside === routes.length ? ', not below the prefix' : ''
    sections.push(`## With [\`${title}\`](${page})${note}\n\n${tableOf(routes)}\n`)
  }
  return sections.join('\n')
}

const BEGIN = '<!-- What follows is made by `node .ci/routes.ts`. -->\n\n'

/** The page with other tables. Throws if it has no place for them. */
export function withTables(page: string, made: string): string {
  const at = page.indexOf(BEGIN)
  if (at === -1) throw new Error(`${ROUTES_PAGE} has no line \`${BEGIN.trim()}\``)
  return page.slice(0, at) + BEGIN + made
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(ROUTES_PAGE, withTables(readFileSync(ROUTES_PAGE, 'utf8'), tables()))
  process.exit()
}
