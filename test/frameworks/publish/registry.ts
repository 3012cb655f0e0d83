/** A package registry of its own, verdaccio: it has what is published to it, and passes on what others have published. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { eventually } from '../../eventually.ts'
import { freePort } from '../../runtimes/harness.ts'
import { start } from '../../runtimes/process.ts'

export interface OwnRegistry {
  readonly url: string
  /** A file of npm's settings with the token of a user who may publish. */
  readonly settings: string
  stop(): Promise<void>
}

/** Starts one in a new folder. `packages` is the `node_modules` with verdaccio. Only the packages with these names are its own. */
export async function startOwnRegistry(
  folder: string,
  packages: string,
  names: readonly string[],
): Promise<OwnRegistry> {
  await mkdir(folder, { recursive: true })
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'])
  const everybody = { access: '$all', publish: '$authenticated' }
  const config = {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'users'), max_users: 10 } },
    uplinks: { above: { url: stdout.trim(), maxage: '1h', timeout: '60s' } },
    packages: {
      ...Object.fromEntries(names.map(name => [name, everybody])),
      '**': { access: '$all', proxy: 'above' },
    },
    max_body_size: '50mb',
    log: { type: 'stdout', format: 'json', level: 'warn' },
  }
  // JSON is YAML too.
  await writeFile(join(folder, 'config.yaml'), JSON.stringify(config))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const started = await start({
    command: process.execPath,
    args: [
      join(packages, 'verdaccio/bin/verdaccio'),
      '-c',
      join(folder, 'config.yaml'),
      '-l',
      `127.0.0.1:${port}`,
    ],
    until: /http address/,
    cwd: folder,
    env: { HOME: folder },
  })
  const user = { name: 'publisher', password: crypto.randomUUID() }
  // It says its address shortly before it listens.
  const answer = await eventually(() =>
    fetch(`${url}-/user/org.couchdb.user:${user.name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(user),
    }),
  )
  const { token } = await answer.json()
  const settings = join(folder, 'npmrc')
  await writeFile(settings, `//127.0.0.1:${port}/:_authToken=${token}\n`)
  return { url, settings, stop: () => started.stop() }
}
