#!/usr/bin/env node
/** `npm create servable`: asks what it must know, writes the project, and installs its packages. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import {
  checkFolder,
  PACKAGE_MANAGERS,
  type PackageManager,
  type Project,
  TEMPLATES,
  type Template,
  UsageError,
  writeProject,
} from './project.ts'

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)

const OLDEST = [22, 18] as const

const HELP = `create-servable ${version}

  npm create servable@latest [folder] -- [options]

  --template NAME         ${Object.entries(TEMPLATES)
    .map(([name, what]) => `${name.padEnd(10)} ${what}`)
    .join(`\n${' '.repeat(26)}`)}
  --package-manager NAME  ${Object.keys(PACKAGE_MANAGERS).join(', ')}; default: the one that runs this
  --no-install            install no packages
  --no-git                begin no repository of git
  --servable VERSION      a version, a tag or \`file:…\`; default: ^${version}
  --yes                   ask nothing, take the defaults
  --version, --help
`

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Throws a `UsageError` where the value is none of the names. */
function oneOf<T extends string>(names: Readonly<Record<T, string>>, value: string, what: string): T {
  if (Object.hasOwn(names, value)) return value as T
  throw new UsageError(`There is no ${what} \`${value}\`: choose one of ${Object.keys(names).join(', ')}`)
}

function argumentsOf(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      allowNegative: true,
      options: {
        template: { type: 'string' },
        'package-manager': { type: 'string' },
        install: { type: 'boolean', default: true },
        git: { type: 'boolean', default: true },
        servable: { type: 'string', default: `^${version}` },
        yes: { type: 'boolean', short: 'y', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'v', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. \`--help\` lists the options`)
  }
}

/** The package manager that runs this. */
function runningManager(): PackageManager {
  const [name = ''] = (process.env.npm_config_user_agent ?? '').split('/')
  return Object.hasOwn(PACKAGE_MANAGERS, name) ? (name as PackageManager) : 'npm'
}

/** Asks for what is not said, where there is somebody to ask. */
async function askFor(said: { folder: string | undefined; template: string | undefined; isQuiet: boolean }) {
  const { folder, template, isQuiet } = said
  const defaults = { folder: folder ?? 'my-agents', template: template ?? 'minimal' }
  if (isQuiet || !process.stdin.isTTY || (folder !== undefined && template !== undefined)) return defaults
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const left = new AbortController()
  // Ctrl-C and Ctrl-D close it.
  terminal.once('close', () => left.abort())
  const ask = async (question: string, value: string) =>
    (await terminal.question(`${question} (${value}) `, { signal: left.signal })).trim() || value
  try {
    const asked = folder ?? (await ask('Which folder?', defaults.folder))
    checkFolder(resolve(asked))
    if (template !== undefined) return { folder: asked, template }
    for (const [name, what] of Object.entries(TEMPLATES)) say(`  ${name.padEnd(10)} ${what}`)
    return { folder: asked, template: await ask('Which template?', defaults.template) }
  } catch (error) {
    throw left.signal.aborted ? new UsageError('\nNothing is made') : error
  } finally {
    terminal.close()
  }
}

/** Runs a command in the folder of the project. Returns whether it succeeded. */
function runIn(cwd: string, command: string, args: readonly string[], stdio: 'inherit' | 'ignore'): boolean {
  // On Windows the commands of package managers are scripts.
  const { status } = spawnSync(command, args, { cwd, stdio, shell: process.platform === 'win32' })
  return status === 0
}

function beginGit(folder: string): void {
  const isInOne = runIn(folder, 'git', ['rev-parse', '--is-inside-work-tree'], 'ignore')
  if (!isInOne) runIn(folder, 'git', ['init', '--quiet'], 'ignore')
}

function nextSteps({ folder, packageManager }: Project, isInstalled: boolean): string {
  const path = relative('', folder)
  const steps = [
    ...(path === '' ? [] : [`cd ${path}`]),
    ...(isInstalled ? [] : [`${packageManager} install`]),
    `${PACKAGE_MANAGERS[packageManager]} dev`,
  ]
  return `\nThe project is in ${folder}. Next:\n\n${steps.map(step => `  ${step}`).join('\n')}\n`
}

async function main(): Promise<void> {
  const { values, positionals } = argumentsOf(process.argv.slice(2))
  if (values.help) return say(HELP)
  if (values.version) return say(version)
  if (positionals.length > 1)
    throw new UsageError(
      `Name one folder, and not ${positionals.map(name => `\`${name}\``).join(' and ')}. With npm, options come after \`--\`: npm create servable@latest my-agents -- --template minimal`,
    )
  const manager = values['package-manager'] ?? runningManager()
  const packageManager = oneOf(PACKAGE_MANAGERS, manager, 'package manager')
  const said = { folder: positionals[0], template: values.template, isQuiet: values.yes }
  const { folder, template } = await askFor(said)
  const project: Project = {
    folder: resolve(folder),
    template: oneOf<Template>(TEMPLATES, template, 'template'),
    packageManager,
    servable: values.servable,
  }
  writeProject(project)
  if (values.git) beginGit(project.folder)
  const isInstalled = values.install && runIn(project.folder, packageManager, ['install'], 'inherit')
  say(nextSteps(project, isInstalled))
  if (values.install && !isInstalled)
    throw new UsageError(`\`${packageManager} install\` failed: the project is there, without its packages`)
}

try {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new UsageError(
      `servable needs Node ${OLDEST.join('.')} or newer here, and this is Node ${process.versions.node}`,
    )
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof UsageError ? error.message : (error as Error).stack}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
