/** What the README and the pages in `docs` show. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './process.ts'

export interface Fence {
  /** The file that it stands in: `README.md`, `docs/agents.md`. */
  readonly page: string
  readonly language: string
  readonly text: string
}

/** Its files have names of their own, and a test of their own. */
const TESTED_APART = 'deploy.md'

const docs = (await readdir(join(root, 'docs'))).filter(name => name.endsWith('.md') && name !== TESTED_APART)

/** Every page that has blocks of code, the README first. */
const PAGES: readonly string[] = ['README.md', ...docs.sort().map(name => `docs/${name}`)]

/** All blocks of code, page by page and in order. */
export const fences: readonly Fence[] = (await Promise.all(PAGES.map(fencesOf))).flat()

async function fencesOf(page: string): Promise<Fence[]> {
  const text = await readFile(join(root, page), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({
    page,
    language,
    text: code,
  }))
}

/** The shell commands of a page, or of all. */
export function commandsOf(page?: string): string[] {
  const shown = fences.filter(fence => fence.language === 'sh' && (page === undefined || fence.page === page))
  return shown.map(({ text }) => text.trim())
}

/** The names of all TypeScript files that are shown, each as often as it is. */
export const fileNames: readonly string[] = typeScript().map(nameOf)

/** All TypeScript, by the name of the file that its first line says. */
export const snippets: ReadonlyMap<string, string> = new Map(
  typeScript().map(fence => [nameOf(fence), fence.text]),
)

function typeScript(): Fence[] {
  return fences.filter(({ language }) => language === 'ts')
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
