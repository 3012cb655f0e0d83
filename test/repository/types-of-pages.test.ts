/** The snippets of the README and of all pages fit the types, together in one program. */
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { EXAMPLE_AGENTS, fences, fencesOf, snippetsIn, writeSnippets } from '../pages/pages.ts'
import { root } from '../runtimes/process.ts'

const run = promisify(execFile)

/** The parts of React and of the AI SDK's hook that the pages use. Neither package is installed. */
const REACT = `declare module 'react' {
  export function useState<T>(initial: T): [T, (next: T | ((before: T) => T)) => void]
  export function useRef<T>(initial: T): { current: T }
}
declare module '@ai-sdk/react' {
  import type { AbstractChat, ChatInit, UIMessage } from 'ai'
  export function useChat<M extends UIMessage = UIMessage>(
    options?: ChatInit<M> & { resume?: boolean },
  ): Pick<AbstractChat<M>, 'id' | 'messages' | 'sendMessage' | 'status' | 'error' | 'stop'>
}
declare namespace JSX {
  interface Element {}
  interface IntrinsicElements {
    readonly main: object
    readonly p: object
    readonly button: { readonly onClick?: () => unknown; readonly disabled?: boolean }
  }
}
`

const CONFIG = {
  extends: '../../tsconfig.json',
  compilerOptions: { jsx: 'preserve' },
  include: ['.', '../../../src/runtimes/cloudflare/modules.d.ts'],
  // They use the globals of Bun and Deno, which have no types here.
  exclude: ['*-bare-*.ts'],
}

let folder: string
beforeAll(async () => {
  const pages = new Set(fences.map(({ page }) => page))
  folder = await writeSnippets(snippetsIn(fencesOf([...pages])).set('agents.ts', EXAMPLE_AGENTS))
  await writeFile(join(folder, 'react.d.ts'), REACT)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('all pages have snippets that type-check', async () => {
  const tsc = join(root, 'node_modules/.bin/tsc')
  // Other tests have the other cores, and threads that share a program check parts of it twice.
  const checked = run(tsc, ['-p', folder, '--noEmit', '--singleThreaded'], { cwd: root })
  expect(
    await checked.then(
      ({ stdout }) => stdout,
      error => error.stdout,
    ),
  ).toBe('')
})
