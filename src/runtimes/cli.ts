#!/usr/bin/env node
/**
 * The command `servable`.
 *
 * @module
 */

import process from 'node:process'
import { cac } from 'cac'
import { VERSION } from '../http/version.ts'
import { storeCommand } from './postgres/command.ts'

const cli = cac('servable')

cli
  .command('store <act>', 'Look after the state in PostgreSQL: `migrate` or `check`')
  .option('--url <address>', 'The database: postgres://user:password@host/name (default: DATABASE_URL)')
  .option('--listen-url <address>', 'With `check`: the address on which processes listen')
  .option('--schema <name>', 'The schema', { default: 'servable' })
  .option('--no-prepare', 'For poolers without prepared statements')
  .example('servable store migrate --url postgres://me@127.0.0.1/app')
  .action(async (act: string, options: Readonly<Record<string, unknown>>) => {
    process.exitCode = await storeCommand(
      act,
      { ...options, url: options.url ?? process.env.DATABASE_URL },
      line => console.log(line),
    )
  })

cli.help()
cli.version(VERSION)

try {
  cli.parse(process.argv, { run: false })
  if (cli.matchedCommand === undefined && cli.options.help !== true && cli.options.version !== true) {
    cli.outputHelp()
    process.exitCode = 1
  }
  await cli.runMatchedCommand()
} catch (error) {
  console.error(`servable: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
