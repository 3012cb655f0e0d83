/** The programs that serve the handler of a file `entries/…-server.ts` on Node, Bun and Deno: one program a runtime. */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import process from 'node:process'
import { root } from './process.ts'

const FOLDER = 'test/.tmp/listeners'

/** The program, as the author of a server writes it. It names the file, since Deno may read only what a program imports by name. */
const program = (runtime: string, server: string): string => `import process from 'node:process'
import { serve } from '../../../src/runtimes/${runtime}.ts'
import { handler } from '../../runtimes/entries/${server}'

const server = await serve(handler, { port: Number(process.env.PORT) })
console.log(\`listening \${server.url}\`)
`

/** Whether an entry has a handler alone. */
export const isServer = (entry: string): boolean => entry.endsWith('-server.ts')

/** Writes the program of an entry for a runtime, and returns its path. Other entries are programs already. */
export async function listenerOf(entry: string, runtime: 'node' | 'bun' | 'deno'): Promise<string> {
  if (!isServer(entry)) return entry
  const path = `${FOLDER}/${basename(entry).replace('-server.ts', `-${runtime}.ts`)}`
  await mkdir(join(root, FOLDER), { recursive: true })
  // Other test files may be reading it.
  const draft = join(root, `${path}.${process.pid}`)
  await writeFile(draft, program(runtime, basename(entry)))
  await rename(draft, join(root, path))
  return path
}

/** The entry of a service: its Worker, or the handler that the other runtimes serve. */
export function entryOf(service: string, runtime: string): string {
  return `test/runtimes/entries/${service}-${runtime === 'workerd' ? 'workerd' : 'server'}.ts`
}
