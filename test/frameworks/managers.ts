/** Package managers, each in a folder of its own that can be put on `PATH`, with nothing of this machine's user. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { root } from '../runtimes/process.ts'

/** The programs below the folder of packages that have them. npm and Node are those of the tests. */
const PROGRAMS = {
  npm: {},
  pnpm: { pnpm: 'pnpm/bin/pnpm.mjs' },
  'yarn 1': { yarn: 'yarn/bin/yarn.js' },
  'yarn 4': { yarn: '@yarnpkg/cli-dist/bin/yarn.js' },
  bun: {},
} as const

export type Manager = keyof typeof PROGRAMS

export const MANAGERS = Object.keys(PROGRAMS) as Manager[]

/** The command of a manager. */
export const commandOf = (manager: Manager): string => manager.split(' ')[0] ?? ''

/** A manager with an empty home. */
export interface Managed {
  /** The environment of its commands. */
  readonly env: Record<string, string>
  /** Runs a command. Returns its output. Rejects with all that it printed. */
  run(cwd: string, command: string, ...args: string[]): Promise<string>
}

/** Npm's settings, as the environment has them, would be above those of the home. */
const ofNpm = /^npm_(?!config_cafile)/i

/** Prepares a manager in a new folder. `packages` is the `node_modules` with its program. */
export async function managed(
  manager: Manager,
  { folder, packages, registry }: { folder: string; packages: string; registry?: string },
): Promise<Managed> {
  const bin = join(folder, 'bin')
  const home = join(folder, 'home')
  await mkdir(bin, { recursive: true })
  await mkdir(home)
  await symlink(process.execPath, join(bin, 'node'))
  // Pnpm takes no registry from the environment.
  if (registry !== undefined) await writeFile(join(home, '.npmrc'), `registry=${registry}\n`)
  if (manager === 'bun') await symlink(join(root, 'node_modules/.bin/bun'), join(bin, 'bun'))
  for (const [name, path] of Object.entries(PROGRAMS[manager])) {
    await writeFile(join(bin, name), `#!/bin/sh\nexec node ${join(packages, path)} "$@"\n`)
    await chmod(join(bin, name), 0o755)
  }
  const inherited = Object.entries(process.env).filter(([name]) => !ofNpm.test(name) && name !== 'NODE_ENV')
  const path = (process.env.PATH ?? '').split(delimiter).filter(each => !each.endsWith('node_modules/.bin'))
  const env = {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    PATH: [bin, ...path].join(delimiter),
    HOME: home,
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_DATA_HOME: join(home, '.local/share'),
    CI: '',
    NPM_CONFIG_UPDATE_NOTIFIER: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    YARN_ENABLE_TELEMETRY: '0',
    // Yarn 4 refuses a version that was published a moment ago.
    YARN_NPM_MINIMAL_AGE_GATE: '0',
    ...(registry !== undefined && {
      NPM_CONFIG_REGISTRY: registry,
      YARN_REGISTRY: registry,
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
      BUN_CONFIG_REGISTRY: registry,
    }),
  }
  const run: Managed['run'] = (cwd, command, ...args) =>
    promisify(execFile)(command, args, { cwd, env, maxBuffer: 2 ** 26 }).then(
      ({ stdout, stderr }) => stdout + stderr,
      error => {
        throw new Error(
          `${command} ${args.join(' ')} in ${cwd}: ${error.stdout}${error.stderr}${error.message}`,
        )
      },
    )
  return { env, run }
}
