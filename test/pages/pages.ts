import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../runtimes/process.ts'

/** Pages that `pages.test.ts` tests. */
export const PAGES_OF_PARTS: readonly string[] = [
  'a2a.md',
  'ag-ui.md',
  'console.md',
  'costs.md',
  'deploy.md',
  'deploy-bun.md',
  'deploy-deno.md',
  'deploy-next.md',
  'deploy-node.md',
  'deploy-workers.md',
  'event-socket.md',
  'express-and-hono.md',
  'files.md',
  'logs.md',
  'metrics.md',
  'plugins.md',
  'schedules.md',
  'several-machines.md',
  'stores.md',
  'tool-servers.md',
]

/** Pages that `pages-of-callers.test.ts` tests. */
export const PAGES_OF_CALLERS: readonly string[] = [
  'authentication.md',
  'client.md',
  'errors.md',
  'http.md',
  'options.md',
  'security.md',
  'stored-runs.md',
  'uploads.md',
]

/** Pages that have a test of their own. */
const PAGES_APART: readonly string[] = [
  'ai-sdk-ui.md',
  'approvals.md',
  'inbox.md',
  'guards.md',
  'budgets.md',
  'keys.md',
  'command.md',
  'containers.md',
  'deploy-agentcore.md',
  'deploy-lambda.md',
  'dev.md',
  'mcp.md',
  'mcp-apps.md',
  'openai.md',
  'remote-agents.md',
  'resuming.md',
  'roles.md',
  'testing.md',
  'traces.md',
  'webhooks.md',
]

/** Snippets that need a framework, which `test/frameworks` installs and tests them with. */
const OF_FRAMEWORK = /^\/\/ framework-/

/** A block of code. */
export interface Fence {
  /** Its name, whatever folder of `docs` it is in: `a2a.md`. The first page is `../README.md`. */
  readonly page: string
  readonly language: string
  readonly text: string
}

async function fencesIn(path: string): Promise<Fence[]> {
  const page = path.startsWith('..') ? path : basename(path)
  const text = await readFile(join(root, 'docs', path), 'utf8')
  const blocks = text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, language = '', code = '']) => ({ page, language, text: code }))
}

/** What is no page, and the pages that `tutorial.ts` plays: their files grow from step to step. */
const LEFT_OUT = /^(why\/decisions\/|\.site\/|start\/tutorial-|connect\/a2a-between-)/

const files = (await readdir(join(root, 'docs'), { recursive: true }))
  .filter(path => path.endsWith('.md') && !LEFT_OUT.test(path))
  .sort((one, other) => basename(one).localeCompare(basename(other)))

/** All blocks of code, page by page and in order, the README first. */
export const fences: readonly Fence[] = (await Promise.all(['../README.md', ...files].map(fencesIn))).flat()

/** The blocks of these pages, but for snippets of frameworks. */
export function fencesOf(pages: readonly string[]): Fence[] {
  return fences.filter(({ page, text }) => pages.includes(page) && !OF_FRAMEWORK.test(text))
}

/** The blocks of all pages whose tests are in `runtimes/readme.test.ts`. */
export const otherFences: readonly Fence[] = fences.filter(
  ({ page, text }) =>
    ![...PAGES_OF_PARTS, ...PAGES_OF_CALLERS, ...PAGES_APART].includes(page) && !OF_FRAMEWORK.test(text),
)

/** The shell commands among the blocks. */
export function commandsIn(shown: readonly Fence[]): string[] {
  return shown.filter(({ language }) => language === 'sh').map(({ text }) => text.trim())
}

/** TypeScript by the name of the file that its first line says. Throws where two have one name, or one has none. */
export function snippetsIn(shown: readonly Fence[]): Map<string, string> {
  const snippets = new Map<string, string>()
  for (const { page, language, text } of shown) {
    if (language !== 'ts' && language !== 'tsx') continue
    const name = /^\/\/ ([\w.-]+\.tsx?)\n/.exec(text)?.[1]
    if (name === undefined || snippets.has(name))
      throw new Error(`${page}: ${name ?? text} needs a name of its own`)
    snippets.set(name, text)
  }
  return snippets
}

/** A snippet, on whatever page it stands. Throws where there is none. */
export function snippetOf(name: string): string {
  const found = fences.find(({ text }) => text.startsWith(`// ${name}\n`))
  if (found === undefined) throw new Error(`No page shows \`${name}\``)
  return found.text
}

const { exports: entries } = JSON.parse(await readFile(join(root, 'deno.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>
}

/** A snippet for a folder in `test/.tmp`, which imports the sources of each entry. */
export function fromSources(text: string): string {
  return text.replace(/'servable(\/[\w/-]+)?'/g, (_, path = '') =>
    JSON.stringify(join('../../..', entries[`.${path}`] ?? 'unknown')),
  )
}

/** `agents.ts` that snippets import, in such a folder: the agents of the examples. */
export const EXAMPLE_AGENTS = `export * from '../../../examples/agents.ts'`

/** A new folder in `test/.tmp` with the snippets, which import the sources, listen on any port, and keep their data there. */
export async function writeSnippets(
  snippets: ReadonlyMap<string, string>,
  change: (text: string) => string = text => text,
): Promise<string> {
  await mkdir(join(root, 'test/.tmp'), { recursive: true })
  const folder = await mkdtemp(join(root, 'test/.tmp/pages-'))
  for (const [name, text] of snippets) {
    const source = change(fromSources(text))
      .replaceAll('port: 3000', 'port: 0')
      .replace("'servable.db'", JSON.stringify(join(folder, 'servable.db')))
    await writeFile(join(folder, name), source)
  }
  return folder
}

/** What `event-socket-client.ts` prints: an acknowledgement and events that come at once are told in either order. */
export const SOCKET_CLIENT_SAYS: RegExp =
  /^(?=(?:[\s\S]*\n)?run [\da-f-]{36}\n)[\s\S]*\nall of it: Hello over a socket\n(?:run [\da-f-]{36}\n)?$/

/** Loads a file with a new registry, like a separate program. */
export async function load<T>(folder: string, name: string): Promise<T> {
  Reflect.deleteProperty(globalThis, Symbol.for('servable.registry'))
  return import(pathToFileURL(join(folder, name)).href)
}
