#!/usr/bin/env node
/**
 * The command `servable`. Its exit code is 0 for success, 1 if the resource is missing, the request was refused or the run has
 * failed, 2 for a wrong command, and 3 if the service cannot be reached.
 *
 * Reads its arguments here, and finds the service in `service.ts`. A subcommand is a file: `runs.ts`, `tail.ts`, `sessions.ts`,
 * `login.ts`, `tenants.ts`, `agents.ts`. The commands about the agents of a folder are in `here`; `load.ts` loads them.
 * May import Node's modules, `client`, and every door below.
 *
 * @module
 */

import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type Command, cac } from 'cac'
import { shown } from '../features/logs/shown.ts'
import { VERSION } from '../http/version.ts'
import { checkNode } from '../runtimes/node/version.ts'
import { agentsCommand } from './agents.ts'
import { SERVES } from './here/serving.ts'
import { loginCommand, logoutCommand } from './login.ts'
import { runsCommand } from './runs.ts'
import { createScreen, endWithReader } from './screen.ts'
import { EXIT, failureOf, type Options, UsageError } from './service.ts'
import { sessionsCommand } from './sessions.ts'
import { pruneCommand } from './store-prune.ts'
import { tenantsCommand } from './tenants.ts'

const cli = cac('servable')
const program = fileURLToPath(import.meta.url)
const screen = createScreen()

/** Adds the options of every command that calls a service. */
function asking(command: Command): Command {
  return command
    .option(
      '--url <address>',
      'The service with its prefix: http://127.0.0.1:3000/api (default: SERVABLE_URL)',
    )
    .option(
      '--token-file <path>',
      'A file that holds the token for the service (default: SERVABLE_TOKEN, then `servable login`)',
    )
    .option('--json', 'One JSON object a line')
}

/** Adds the options that select an agent, team or workflow. */
function naming(command: Command): Command {
  return command
    .option('--agent <name>', 'Of this agent')
    .option('--team <name>', 'Of this team')
    .option('--workflow <name>', 'Of this workflow')
}

/** Adds the options of every command that serves. */
function serving(command: Command): Command {
  return command
    .option('--port <port>', 'The port; 0 takes a free one (default: PORT, then 3000)')
    .option('--host <address>', 'The address to listen on', { default: '127.0.0.1' })
}

serving(cli.command('dev [path]', 'Serve the agents of a file or folder, with the console, and reload them'))
  .option('--open', 'Open the console in the browser')
  .example('servable dev agents.ts')
  .action(async (path: string | undefined, options: Options) => {
    const { devCommand } = await import('./here/dev.ts')
    process.exitCode = await devCommand(path, options, { screen, program })
  })

serving(cli.command('start [path]', 'Serve the agents of a file or folder in production'))
  .option('--console', 'Serve the console too')
  .option('--public', 'Listen beyond this machine without known authentication')
  .option('--grace <seconds>', 'How long runs may go on after SIGTERM (default: 25)')
  .example('servable start agents.ts --host 0.0.0.0')
  .action(async (path: string | undefined, options: Options) => {
    const { startCommand } = await import('./here/start.ts')
    process.exitCode = await startCommand(path, options)
    process.exit()
  })

asking(cli.command('run <name> [...input]', 'Ask an agent, team or workflow of this folder, or at --url'))
  .option('--from <path>', 'The file or folder with the agents (default: as `servable dev`)')
  .option('--session <id>', 'Go on in this session')
  .option('--approve', 'Approve every call that asks')
  .example('servable run echo "Hello"')
  .action(async (name: string, input: string[], options: Options) => {
    const { runCommand } = await import('./here/run.ts')
    process.exitCode = await runCommand(name, input, options, screen)
  })

asking(
  cli.command('doctor [target]', 'Check a running service by its address, or what this folder would serve'),
)
  .option('--reach <address>', 'Without an address of a service: where a webhook must get to')
  .example('servable doctor https://agents.example.com/api')
  .example('servable doctor agents.ts')
  .action(async (target: string | undefined, options: Options) => {
    const { doctorCommand } = await import('./doctor.ts')
    process.exitCode = await doctorCommand(target, options, screen)
  })

asking(naming(cli.command('runs <act> [id]', 'Stored runs: `ls`, `show`, `tail` or `cancel`')))
  .option('--status <status>', 'With `ls`: running, completed, input_required, failed or cancelled')
  .option('--waiting', 'With `ls`: that wait for answers')
  .option('--feedback <rating>', 'With `ls`: with this feedback: positive, negative, neutral or any')
  .option('--owner <id>', 'Of this owner, or `*` for all: for those with a role')
  .option('--session <id>', 'With `ls`: of this session')
  .option('--since <time>', 'With `ls`: that began then or later, such as 2026-05-01T12:00:00Z')
  .option('--until <time>', 'With `ls`: that began before then')
  .option('--search <text>', 'With `ls`: whose input, output or error contains this')
  .option('--limit <count>', 'With `ls`: most runs, 1 to 10000 (default: 50)')
  .option('--after <event>', 'With `tail`: begin after the event of this number (default: 0)')
  .example('servable runs ls --status failed --agent support')
  .example('servable runs tail 0b5ce6fc-5f6b-4d8c-9f0a-3c8d1f0e8a11')
  .action(async (act: string, id: string | undefined, options: Options) => {
    process.exitCode = await runsCommand(act, id, options, screen)
  })

for (const [name, about, run] of [
  ['login', 'Keep the token for a service, which is read from stdin', loginCommand],
  ['logout', 'Forget the token for a service', logoutCommand],
] as const) {
  cli
    .command(name, about)
    .option('--url <address>', 'The service with its prefix (default: SERVABLE_URL)')
    .example(`servable ${name} --url https://agents.example.com/api`)
    .action(async (options: Options) => {
      process.exitCode = await run(options, screen)
    })
}

asking(naming(cli.command('sessions <act> [id]', 'Your sessions: `export` or `delete`')))
  .option('--since <time>', 'With `export`: turns that began then or later')
  .option('--output <path>', 'With `export`: the file to write, complete or not at all (default: stdout)')
  .option('--yes', 'With `delete`: do not ask')
  .option('--cancel', 'With `delete`: cancel a run that is at work in it')
  .example('servable sessions export --since 2026-05-01 --output turns.jsonl')
  .example('servable sessions delete chat-1 --agent support')
  .action(async (act: string, id: string | undefined, options: Options) => {
    process.exitCode = await sessionsCommand(act, id, options, screen)
  })

asking(naming(cli.command('agents <act> [name]', 'Agents, teams and workflows: `pause` or `resume` one')))
  .option('--reason <text>', 'With `pause`: why, which callers are told')
  .example('servable agents pause support --reason "It loops"')
  .action(async (act: string, name: string | undefined, options: Options) => {
    process.exitCode = await agentsCommand(act, name, options, screen)
  })

asking(cli.command('tenants <act> [tenant]', 'Customers of the service: `delete` all that is kept of one'))
  .option('--yes', 'Do not ask')
  .option('--cancel', 'Cancel runs that are at work')
  .example('servable tenants delete acme')
  .action(async (act: string, tenant: string | undefined, options: Options) => {
    process.exitCode = await tenantsCommand(act, tenant, options, screen)
  })

cli
  .command(
    'store <act>',
    'Look after a database: `prune` one of SQLite or PostgreSQL, `migrate` or `check` one of PostgreSQL',
  )
  .option('--file <path>', 'With `prune`: a SQLite file')
  .option('--dry-run', 'With `prune`: write nothing, and say what would be done')
  .option('--url <address>', 'The database: postgres://user:password@host/name (default: DATABASE_URL)')
  .option('--listen-url <address>', 'With `check`: the address on which processes listen')
  .option('--schema <name>', 'The schema', { default: 'servable' })
  .option('--no-prepare', 'For poolers without prepared statements')
  .example('servable store migrate --url postgres://me@127.0.0.1/app')
  .action(async (act: string, options: Options) => {
    const given = { ...options, url: options.url ?? process.env.DATABASE_URL }
    const print = (line: string) => console.log(line)
    if (act === 'prune' && options.file !== undefined) {
      process.exitCode = await pruneCommand(given, print)
      return
    }
    const { storeCommand } = await loadStoreCommand()
    process.exitCode = await (act === 'prune' ? pruneCommand(given, print) : storeCommand(act, given, print))
  })

cli.help()
cli.version(VERSION)

/** Loaded on demand: it needs an optional package, and the other commands do not. */
async function loadStoreCommand() {
  try {
    return await import('../stores/postgres/command.ts')
  } catch (cause) {
    throw new UsageError('`servable store` needs the package `postgres`: run `npm install postgres`', {
      cause,
    })
  }
}

/** Throws for an unknown command. Without a command, it prints the help. */
function checkCommand(): void {
  const { matchedCommand, options, args } = cli
  if (matchedCommand !== undefined || options.help === true || options.version === true) return
  const [asked] = args
  if (asked !== undefined)
    throw new UsageError(`\`${shown(asked, 40)}\` is unknown: \`servable --help\` says what there is`)
  cli.outputHelp()
  process.exitCode = EXIT.usage
}

endWithReader()
try {
  checkNode()
  if (process.env[SERVES]) {
    const { serveForDev } = await import('./here/dev-process.ts')
    serveForDev()
  } else await parse()
} catch (error) {
  const { text, code } = failureOf(error)
  screen.note(`servable: ${shown(text, 2000)}`)
  process.exitCode = code
}

/** Runs the command of the arguments. */
async function parse(): Promise<void> {
  cli.parse(process.argv, { run: false })
  checkCommand()
  await cli.runMatchedCommand()
}
