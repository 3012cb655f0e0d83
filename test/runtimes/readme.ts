/** What the README shows. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './process.ts'

export interface Fence {
  readonly language: string
  readonly text: string
}

const readme = await readFile(join(root, 'README.md'), 'utf8')

/** Its blocks of code, in order. */
export const fences: readonly Fence[] = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', text = '']) => ({ language, text }),
)

/** Its TypeScript, by the name of the file that its first line says. */
export const snippets: ReadonlyMap<string, string> = new Map(
  fences
    .filter(({ language }) => language === 'ts')
    .map(({ text }) => [/^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? 'unnamed', text]),
)
