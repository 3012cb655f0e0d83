/**
 * Stock clients of LangGraph's server against that server and against servable: four lines of its SDK, `RemoteGraph`, `useStream`,
 * and the agent of AG-UI. The same checks run on both. Where the two differ, a table says why.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { isDeepStrictEqual, promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageCases } from '../contracts/langgraph-clients/pages.ts'
import { REASONS, REASONS_OF_GRAPHS } from '../frameworks/langgraph-clients/reasons.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { listening } from '../listening.ts'
import { root, type Started, start } from '../runtimes/process.ts'

const OWN = 'test/frameworks/langgraph-clients'
const REFERENCE = 'test/frameworks/langgraph-server'

const LINES = ['sdk-1.0', 'sdk-1.12', 'sdk-1.15', 'sdk-2.0']

/** The page with the table, between two lines. */
const PAGE = join(root, 'docs/connect/langgraph-api.md')
const FILE = join(root, OWN, 'differences.md')
const [BEGIN, END] = ['<!-- differences: begin -->', '<!-- differences: end -->']

/** Longer than the checks of one line of the SDK take on a busy machine. */
const LIMIT_MS = 300_000

interface Fact {
  readonly name: string
  readonly got: unknown
  readonly want: unknown
}

type Report = readonly { readonly check: string; readonly facts: readonly Fact[] }[]

let clients: Installed
let reference: Started
let servable: Started
let graphs: Started
const urls = { reference: '', servable: '', graphs: '' }

beforeAll(async () => {
  clients = await install('langgraph-clients', [])
  const server = await install('langgraph-server', [])
  removed.push(clients, server)
  ;[reference, servable, graphs] = await Promise.all([
    startReference(server.folder),
    startServable(clients.folder, `${OWN}/agents.ts`),
    startServable(server.folder, `${REFERENCE}/served.ts`),
  ])
  urls.servable = `${servable.ready[1]}/langgraph`
  urls.graphs = `${graphs.ready[1]}/langgraph`
})
const removed: Installed[] = []
afterAll(async () => {
  await Promise.all([reference, servable, graphs].map(each => each?.stop()))
  await Promise.all(removed.map(each => each.remove()))
})

async function startReference(folder: string): Promise<Started> {
  const free = await listening(createServer())
  await free.stop()
  urls.reference = free.url
  const args = ['dev', '--no-browser', '--port', String(free.port)]
  return start({
    command: process.execPath,
    args: [join(folder, 'node_modules/.bin/langgraphjs'), ...args],
    until: /Server running at/,
    env: { LANGSMITH_TRACING: 'false', LANGGRAPH_CLI_NO_ANALYTICS: '1' },
    cwd: join(folder, REFERENCE),
  })
}

function startServable(folder: string, module: string): Promise<Started> {
  const args = [join(folder, module)]
  return start({ command: process.execPath, args, until: /listening (http:\S+)/, cwd: folder })
}

/** Runs all checks with one line of the SDK. */
async function reportOf(server: keyof typeof urls, line: string): Promise<Report> {
  const args = [join(clients.folder, OWN, 'run.ts'), urls[server], line]
  const options = { cwd: clients.folder, maxBuffer: 2 ** 26 }
  const { stdout } = await promisify(execFile)(process.execPath, args, options)
  return JSON.parse(stdout)
}

/** A fact that is not the same on both servers, or that is not what a client wants. */
interface Difference {
  readonly key: string
  readonly reference: string
  readonly servable: string
  readonly isAsWanted: boolean
  readonly why: string | undefined
}

const differences = new Map<string, Difference>()

function compare(
  ours: Report,
  theirs: Report,
  reasons: Readonly<Record<string, string>>,
): readonly Difference[] {
  const facts = (report: Report) =>
    new Map(report.flatMap(({ check, facts: all }) => all.map(fact => [`${check} | ${fact.name}`, fact])))
  const [mine, other] = [facts(ours), facts(theirs)]
  return [...new Set([...mine.keys(), ...other.keys()])].flatMap(key => {
    const [servableHas, referenceHas] = [mine.get(key), other.get(key)]
    // A check that throws has one more fact, which tells enough, and none of those after it.
    if (servableHas === undefined && mine.has(key.replace(/\|.*/, '| no error'))) return []
    const isAsWanted = servableHas !== undefined && isDeepStrictEqual(servableHas.got, servableHas.want)
    if (isAsWanted && isDeepStrictEqual(servableHas.got, referenceHas?.got)) return []
    const why = reasons[key] ?? reasons[key.replace(/ \|.*/, '')]
    const [there, here] = [shownOf(referenceHas?.got), shownOf(servableHas?.got)]
    return [{ key, reference: there, servable: here, isAsWanted, why }]
  })
}

/** A value as it stands in the table. */
function shownOf(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}

const cell = (text: string) => (text.length > 120 ? `${text.slice(0, 117)}…` : text).replaceAll('|', '\\|')

function tableOf(all: readonly Difference[]): string {
  const rows = all.map(({ key, reference: theirs, servable: ours, why }) => {
    const code = (text: string) => (text === '' ? '' : `\`${cell(text)}\``)
    return `| ${key.replace(/^\d+ /, '').replace(' | ', ': ')} | ${code(theirs)} | ${code(ours)} | ${why} |`
  })
  return ['| check | LangGraph | servable | why |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

/** Writes the table into the page, or into a file of its own. */
function write(table: string): void {
  const page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from === -1 || to === -1) return writeFileSync(FILE, `${table}\n`)
  writeFileSync(PAGE, `${page.slice(0, from)}${BEGIN}\n\n${table}\n\n${page.slice(to)}`)
}

describe("clients of LangGraph's server", () => {
  it.each(LINES)(
    'find on servable what they want, but for what the table explains: %s',
    async line => {
      const [theirs, ours] = await Promise.all([reportOf('reference', line), reportOf('servable', line)])
      expect(ours.length).toBeGreaterThan(40)
      const found = compare(ours, theirs, REASONS)
      for (const each of found) if (!differences.has(each.key)) differences.set(each.key, each)
      expect(found.filter(({ why }) => why === undefined)).toEqual([])
    },
    LIMIT_MS,
  )

  it('differ only where the table says so', () => {
    const used = new Set([...differences.keys()].flatMap(key => [key, key.replace(/ \|.*/, '')]))
    expect(Object.keys(REASONS).filter(key => !used.has(key))).toEqual([])
    const known = [...differences.values()].filter(({ why }) => why !== undefined)
    write(tableOf(known))
  })

  it.each(['sdk-1.12', 'sdk-1.15'])(
    "find of LangGraph's graphs on servable what these are there, or what they want: %s",
    async line => {
      const theirs = await reportOf('reference', line)
      const found = compare(await reportOf('graphs', line), theirs, REASONS_OF_GRAPHS)
      const neither = found.filter(
        ({ reference: there, servable: here, isAsWanted }) => there !== here && !isAsWanted,
      )
      expect(neither.filter(({ why }) => why === undefined)).toEqual([])
    },
    LIMIT_MS,
  )

  it('have types that fit', () => clients.check())
})

describe.each([
  ['LangGraph', 'reference', false],
  ['servable', 'servable', true],
  ['servable, of graphs', 'graphs', true],
] as const)('pages on %s', (_, server, keepsForks) => {
  pageCases(() => ({ url: urls[server], folder: clients.folder }), { keepsForks })
})
