/** Copies an example's folder to a place outside the repository, and installs it with the packed library. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pack } from '../repository/packing.ts'
import { root, type Started, start } from './process.ts'

const run = promisify(execFile)
const listening = /(http:\/\/127\.0\.0\.1:\d+)/

export interface Example {
  readonly folder: string
  /** Runs a script of its package file to its end. */
  script(name: string): Promise<void>
  /** Starts it on a free port: its `server.ts`, or what the arguments of Node say. */
  serve(env?: Record<string, string>, args?: string[]): Promise<Started & { readonly url: string }>
}

export interface Examples {
  of(name: string): Example
  remove(): Promise<void>
}

/** Installs each of the folders. */
export async function installExamples(names: readonly string[]): Promise<Examples> {
  const parent = await mkdtemp(join(tmpdir(), 'servable-examples-'))
  const { tarball } = await pack()
  try {
    for (const name of names) {
      const folder = join(parent, name)
      await cp(join(root, 'examples', name), folder, { recursive: true })
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
      manifest.dependencies.servable = `file:${tarball}`
      await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
      await runIn(folder, join(root, 'node_modules/.bin/bun'), 'install', '--no-save')
    }
  } catch (error) {
    await rm(parent, { recursive: true, force: true })
    throw error
  }
  return {
    of: name => exampleIn(join(parent, name)),
    remove: () => rm(parent, { recursive: true, force: true }),
  }
}

function exampleIn(folder: string): Example {
  return {
    folder,
    script: name => runIn(folder, 'npm', 'run', name),
    async serve(env = {}, args = ['server.ts']) {
      const started = await start({
        command: process.execPath,
        args,
        cwd: folder,
        env: { PORT: '0', ...env },
        until: listening,
      })
      return { ...started, url: started.ready[1] ?? '' }
    },
  }
}

/** Runs a command. Its error contains the output. */
async function runIn(cwd: string, command: string, ...args: string[]): Promise<void> {
  await run(command, args, { cwd }).catch(error => {
    throw new Error(`${command} ${args.join(' ')} in ${cwd}: ${error.stdout}${error.stderr}`)
  })
}
