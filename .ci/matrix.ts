// The table of docs/look-up/runtimes.md: which contract holds on which runtime, counted from the reports of the tests.
//   node .ci/matrix.ts write <JSON report>…
//   node .ci/matrix.ts check <JSON report>…
// `check` fails if a cell has tests and the document has a dash, or the reverse, or if a note differs. It ignores the counts
// themselves, which change with every test.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import process from 'node:process'

interface Report {
  testResults: {
    name: string
    assertionResults: { ancestorTitles: string[]; title: string; status: string }[]
  }[]
}
/** The place of a test: its file without folder and endings, and the names of its suites and of itself, outermost first. */
interface Place {
  readonly file: string
  readonly names: readonly string[]
}

const path = 'docs/look-up/runtimes.md'

/** The first name of a test names the deployment. The first pattern that matches counts. */
const deployments: Readonly<Record<string, RegExp>> = {
  'Next.js, two processes': /\bNext\.js processes\b/,
  'Next.js, Edge': /\bEdge route\b/,
  'Next.js, Node': /\bNode route\b/,
  PostgreSQL: /\bPostgreSQL\b/,
  workerd: /\b(workerd|cloudflare|dev server)\b/,
  Lambda: /\blambda\b/,
  Node: /\bnode\b/i,
  Bun: /\bbun\b/i,
  Deno: /\bdeno\b/i,
}
const columns = [
  'Node',
  'PostgreSQL',
  'Bun',
  'Deno',
  'workerd',
  'Next.js, Node',
  'Next.js, two processes',
  'Next.js, Edge',
  'Lambda',
]

/** Files that have many suites. */
const MANY = /^(next|serverless|postgres-(contracts|protocols))$/

/** None of those files has any. */
const NEVER = /^$/

/** The files of a suite, and the pattern of its tests in files that have many: two names, outermost first. */
const suites: Readonly<Record<string, readonly [file: RegExp, amongMany: RegExp]>> = {
  HTTP: [/^(node|bun|deno|workerd|lambda)$/, / > (over HTTP|the log|an agent that is hostile)$/],
  'Tools, uploads, log, limits, documentation': [/^(docs|rate-limit)$/, NEVER],
  'Stored runs': [/^runs$/, / > (stored runs|with )/],
  A2A: [/^a2a$/, / > A2A/],
  'Remote agents': [/^a2a-client$/, / > remote agents\b/],
  'OpenAI’s interface': [/^openai$/, / > OpenAI’s interface\b/],
  'Anthropic’s interface': [/^anthropic$/, / > Anthropic’s interface\b/],
  'LangGraph’s interface': [/^langgraph-api$/, / > LangGraph’s interface\b/],
  'AG-UI': [/^ag-ui$/, / > AG-UI\b/],
  'Chats of the AI SDK': [/^ai-sdk-ui$/, / > chats\b/],
  'MCP server': [/^mcp$/, /^MCP | > MCP\b/],
  'Socket layer': [/^socket$/, NEVER],
  'Event socket': [/^gateway$/, /^the gateway | > the event socket\b/],
  'Model agents': [/^ai$/, /^a model-backed agent | > model-backed agents\b/],
  Sessions: [/^sessions$/, / > sessions\b/],
  Approvals: [/^approvals$/, / > approvals\b/],
  Files: [/^files$/, / > files\b/],
  'Keys, tokens, roles, pauses': [/^(keys|jwt|roles|pausing)$/, / > (keys|pauses)\b/],
  Budgets: [/^budgets$/, / > budgets\b/],
  Guards: [/^guards$/, / > guards\b/],
  Webhooks: [/^webhooks$/, / > webhooks\b/],
  Queue: [/^queue$/, / > the queue\b/],
  Schedules: [/^schedules$/, / > schedules\b/],
  Metrics: [/^metrics$/, / > metrics\b/],
  Traces: [/^otel$/, / > traces\b/],
  Logs: [/^logs$/, NEVER],
  'Admin routes, tool servers': [/^(admin|tool-servers)$/, /^admin on | > admin\b/],
  Console: [/^console$/, / > the console\b/],
  Command: [/^command$/, NEVER],
  Client: [/^client$/, /^the client /],
  Bots: [/^chat-state$/, NEVER],
}
const [http = '', surface = ''] = Object.keys(suites)
/** The tests of the contract over HTTP that belong to the second suite. */
const ofSurface = /^(the log|over HTTP > (GET \/tools|files with a run))( > |$)/

const storeless =
  'It keeps nothing that is in the state, or asks over HTTP for what has a row of its own: the store makes no difference.'
const noUpgrade =
  'A route handler cannot take a WebSocket over. The event socket has polling there: see its row.'
const refused = 'Requests share no memory in the Edge runtime, so these are refused there.'
const unshared =
  'Requests share no memory in the Edge runtime, and the connections of a socket outlive a request: use the Node runtime.'
const forgotten =
  'Requests share no memory in the Edge runtime, so what these keep is lost with each request.'
const partly =
  'The suite makes stored runs too, which the Edge runtime refuses. The row Guards has plain runs of most protocols there.'
const noServer =
  'The suite is about a server that starts, and nothing of servable starts one in Next.js. The second row has the log.'
const onNode = 'The command runs on Node. What it asks for over HTTP has rows of its own.'
const oneProcess =
  'It is of one process: what the column Next.js, Node says of it does not change with the number of processes.'
const shared =
  'No suite of its own: what it keeps is in the column PostgreSQL, and what Next.js may break in the column Next.js, Node.'
const sticky = 'The connections of a socket are in one process, and requests come to any.'
const served =
  'Schedules need a server of their own, and are refused in Next.js when it starts ([Schedules](../build/schedules.md)).'
const ofBots =
  'A bot calls it in its own process, over no route: what Next.js may break of a request is in the other rows.'

const functions =
  'No suite of its own: a function is a process of Node, what it keeps is in the column PostgreSQL, and what events and streamed answers ' +
  'may change in the row HTTP. [Deploy on AWS Lambda](../run/deploy-lambda.md) says what is refused there.'

/** Why a cell has no tests. */
const reasons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PostgreSQL: {
    HTTP: storeless,
    'Socket layer': storeless,
    Logs: storeless,
    Console: storeless,
    Command: storeless,
    Client: storeless,
  },
  Deno: { Command: onNode },
  'Next.js, Node': {
    'Socket layer': noUpgrade,
    Schedules: served,
    Logs: noServer,
    Command: onNode,
    Bots: ofBots,
  },
  'Next.js, two processes': {
    HTTP: oneProcess,
    'Tools, uploads, log, limits, documentation': oneProcess,
    A2A: shared,
    'Remote agents': shared,
    'OpenAI’s interface': shared,
    'Anthropic’s interface': shared,
    'LangGraph’s interface': shared,
    'AG-UI': shared,
    'Chats of the AI SDK': shared,
    'MCP server': shared,
    'Socket layer': noUpgrade,
    'Event socket': sticky,
    'Model agents': shared,
    Approvals: shared,
    Files: shared,
    Guards: oneProcess,
    Schedules: served,
    Metrics: shared,
    Traces: oneProcess,
    Logs: noServer,
    'Admin routes, tool servers': shared,
    Console: oneProcess,
    Command: onNode,
    Client: oneProcess,
    Bots: ofBots,
  },
  'Next.js, Edge': {
    'Stored runs': refused,
    A2A: refused,
    'Remote agents': partly,
    'OpenAI’s interface': partly,
    'Anthropic’s interface': partly,
    'LangGraph’s interface': forgotten,
    'AG-UI': partly,
    'Chats of the AI SDK': partly,
    'MCP server': partly,
    'Socket layer': unshared,
    'Event socket': refused,
    'Model agents': partly,
    Sessions: forgotten,
    Approvals: forgotten,
    Files: refused,
    'Keys, tokens, roles, pauses': forgotten,
    Budgets: forgotten,
    Webhooks: forgotten,
    Queue: forgotten,
    Schedules: served,
    Metrics: partly,
    Logs: noServer,
    'Admin routes, tool servers': refused,
    Console: refused,
    Command: onNode,
    Bots: forgotten,
  },
  Lambda: Object.fromEntries(
    Object.keys(suites).flatMap(name => (name === http || name === surface ? [] : [[name, functions]])),
  ),
}

function suiteOf({ file, names }: Place): string | undefined {
  const found = Object.entries(suites).find(([, [own, amongMany]]) =>
    MANY.test(file) ? amongMany.test(names.slice(0, 2).join(' > ')) : own.test(file),
  )?.[0]
  return found === http && ofSurface.test(names.slice(1).join(' > ')) ? surface : found
}

function deploymentOf({ names }: Place): string | undefined {
  return Object.entries(deployments).find(([, pattern]) => pattern.test(names[0] ?? ''))?.[0]
}

/** How many tests passed, by deployment and suite. */
function count(reports: readonly Report[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { name, assertionResults } of reports.flatMap(report => report.testResults)) {
    if (!name.includes('/test/runtimes/')) continue
    for (const { ancestorTitles, title, status } of assertionResults) {
      if (status !== 'passed') continue
      const place = { file: basename(name, '.test.ts'), names: [...ancestorTitles, title] }
      const cell = `${suiteOf(place)}|${deploymentOf(place)}`
      counts.set(cell, (counts.get(cell) ?? 0) + 1)
    }
  }
  return counts
}

/** The table, with its notes below it. */
function table(counts: ReadonlyMap<string, number>): string {
  const notes: string[] = []
  const cell = (suite: string, deployment: string): string => {
    const passed = counts.get(`${suite}|${deployment}`)
    const reason = reasons[deployment]?.[suite]
    if (passed !== undefined && reason === undefined) return String(passed)
    if (passed !== undefined)
      throw new Error(`${suite}, ${deployment}: has tests, and a reason why it has none`)
    if (reason === undefined) throw new Error(`${suite}, ${deployment}: has neither tests nor a reason`)
    if (!notes.includes(reason)) notes.push(reason)
    return `– [^${notes.indexOf(reason) + 1}]`
  }
  const lines = Object.keys(suites).map(suite => [
    suite,
    ...columns.map(deployment => cell(suite, deployment)),
  ])
  const written = [['', ...columns], ['---', ...columns.map(() => '---:')], ...lines]
  const footnotes = notes.map((note, index) => `[^${index + 1}]: ${note}`)
  return `${written.map(cells => `| ${cells.join(' | ')} |`).join('\n')}\n\n${footnotes.join('\n')}\n`
}

const [command, ...files] = process.argv.slice(2)
const document = readFileSync(path, 'utf8')
const start = document.search(/^\|/m)
// The table of `test/wide.ts` follows.
const end = document.indexOf('\n## ', start)
const made = table(count(files.map(file => JSON.parse(readFileSync(file, 'utf8')))))
const withoutCounts = (text: string) => text.replace(/ \d+ (?=\|)/g, ' n ')

if (command === 'write') {
  writeFileSync(path, document.slice(0, start) + made + document.slice(end))
} else if (command === 'check') {
  if (withoutCounts(document.slice(start, end)) !== withoutCounts(made)) {
    console.error(
      `${path} is not what the reports say (node .ci/matrix.ts write ${files.join(' ')}):\n${made}`,
    )
    process.exitCode = 1
  }
} else throw new Error('usage: node .ci/matrix.ts write|check <JSON report>…')
