/** The code of the pages in `docs`, as files and commands that can run. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { root } from './runtimes/process.ts'

const run = promisify(execFile)
const { exports: entries } = JSON.parse(await readFile(join(root, 'deno.json'), 'utf8')) as {
  exports: Record<string, string>
}

/** A block of code. */
export interface Shown {
  readonly page: string
  readonly language: string
  readonly text: string
}

/** The code blocks of pages, in order. */
export async function readShown(pages: readonly string[]): Promise<Shown[]> {
  const texts = pages.map(async page => {
    const text = await readFile(join(root, 'docs', page), 'utf8')
    const blocks = text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)
    return [...blocks].map(([, language = '', code = '']) => ({ page, language, text: code }))
  })
  return (await Promise.all(texts)).flat()
}

/** TypeScript by the file name in its first line. Throws if two have the same name, or one has none. */
export function snippetsIn(shown: readonly Shown[]): Map<string, string> {
  const snippets = new Map<string, string>()
  for (const { page, language, text } of shown) {
    if (language !== 'ts' && language !== 'tsx') continue
    const name = /^\/\/ ([\w-]+\.tsx?)\n/.exec(text)?.[1]
    if (name === undefined || snippets.has(name))
      throw new Error(`${page}: ${name ?? text} needs a name of its own`)
    snippets.set(name, text)
  }
  return snippets
}

/** A new folder with the files, in which each entry's import resolves to the sources. */
export async function writeSnippets(snippets: ReadonlyMap<string, string>): Promise<string> {
  await mkdir(join(root, 'test/.tmp'), { recursive: true })
  const folder = await mkdtemp(join(root, 'test/.tmp/pages-'))
  for (const [name, text] of snippets) {
    const source = text
      .replace(/'servable(\/[\w-]+)?'/g, (_, path = '') =>
        JSON.stringify(join('../../..', entries[`.${path}`] ?? 'unknown')),
      )
      .replace("'servable.db'", JSON.stringify(join(folder, 'servable.db')))
    await writeFile(join(folder, name), source)
  }
  return folder
}

/** The part of React that the pages use. */
const REACT = `declare module 'react' {
  export function useState<T>(initial: T): [T, (next: T | ((before: T) => T)) => void]
  export function useRef<T>(initial: T): { current: T }
}
declare namespace JSX {
  interface Element {}
  interface IntrinsicElements {
    readonly main: object
    readonly p: object
    readonly button: { readonly onClick?: () => unknown }
  }
}
`

/** Rejects with the compiler's errors. */
export async function checkTypes(folder: string): Promise<void> {
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: { jsx: 'preserve' },
    include: ['.', '../../../src/runtimes/cloudflare/modules.d.ts'],
  }
  await writeFile(join(folder, 'react.d.ts'), REACT)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--noEmit'], { cwd: root })
}

/** Loads a file with a new registry, like a separate program. */
export async function load<T>(folder: string, name: string): Promise<T> {
  Reflect.deleteProperty(globalThis, Symbol.for('servable.registry'))
  return import(pathToFileURL(join(folder, name)).href)
}
