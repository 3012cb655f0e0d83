/** The code of the README and the pages in `docs`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './process.ts'

export interface Fence {
  /** The file with the block: `README.md`, `docs/agents.md`. */
  readonly page: string
  readonly language: string
  readonly text: string
}

/**
 * Pages whose snippets and commands have separate tests: `test/pages.test.ts`, `test/pages-of-callers.test.ts`,
 * `deploy.test.ts`, `page-commands.test.ts`.
 */
const TESTED_APART = [
  'a2a',
  'authentication',
  'client',
  'deploy',
  'errors',
  'event-socket',
  'express-and-hono',
  'http',
  'metrics',
  'options',
  'plugins',
  'security',
  'smaller-bundles',
  'stored-runs',
  'stores',
  'tool-servers',
  'uploads',
]

const isApart = (fence: Fence) => TESTED_APART.some(page => fence.page === `docs/${page}.md`)

const docs = (await readdir(join(root, 'docs'))).filter(name => name.endsWith('.md'))

/** Every page with code blocks, the README first. */
const PAGES: readonly string[] = ['README.md', ...docs.sort().map(name => `docs/${name}`)]

/** All code blocks, page by page and in order. */
export const fences: readonly Fence[] = (await Promise.all(PAGES.map(fencesOf))).flat()

async function fencesOf(page: string): Promise<Fence[]> {
  const text = await readFile(join(root, page), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({
    page,
    language,
    text: code,
  }))
}

/** The shell commands of a page, or of all pages without separate tests. */
export function commandsOf(page?: string): string[] {
  const isWanted = (fence: Fence) => (page === undefined ? !isApart(fence) : fence.page === page)
  const shown = fences.filter(fence => fence.language === 'sh' && isWanted(fence))
  return shown.map(({ text }) => text.trim())
}

/** A snippet from any page. */
export function snippetOf(name: string): string {
  return fences.find(({ text }) => text.startsWith(`// ${name}\n`))?.text ?? ''
}

/** The names of all TypeScript files on the pages, with repetitions. */
export const fileNames: readonly string[] = typeScript().map(nameOf)

/** All TypeScript, by the file name in its first line. */
export const snippets: ReadonlyMap<string, string> = new Map(
  typeScript().map(fence => [nameOf(fence), fence.text]),
)

function typeScript(): Fence[] {
  return fences.filter(fence => fence.language === 'ts' && !isApart(fence))
}

function nameOf({ page, text }: Fence): string {
  return /^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? `unnamed in ${page}`
}

const { exports: entries } = JSON.parse(await readFile(join(root, 'deno.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>
}

/** A snippet in `test/.tmp/<folder>` that imports the sources. */
export function fromSources(text: string): string {
  return text.replace(/'servable(\/[\w-]+)?'/g, (_, path = '') =>
    JSON.stringify(join('../../..', entries[`.${path}`] ?? 'unknown')),
  )
}
