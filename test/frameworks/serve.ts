/** Serves the exports of the module in its first argument: `agents` with `plugins` and `middleware`, or a whole `handler`. */
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { createHandler, Registry } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'

process.on('unhandledRejection', error => console.error('unhandled rejection:', error))

const {
  agents,
  handler,
  plugins = [],
  middleware = [],
} = await import(pathToFileURL(process.argv[2] ?? '').href)
// With an empty registry, lists are on and contain only these agents.
const state = sqliteState({ path: join(process.env.STATE_FOLDER ?? '', 'runs.db') })
const served =
  handler ??
  createHandler({ serve: agents, registry: new Registry(), production: true, state, plugins, middleware })
const server = await serve(served, { port: 0 })
console.log(`listening ${server.url}`)
