/** Serves what the module of its first argument exports: `agents`, or a whole `handler`. */
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { createHandler, Registry } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'

process.on('unhandledRejection', error => console.error('unhandled rejection:', error))

const { agents, handler } = await import(pathToFileURL(process.argv[2] ?? '').href)
// An empty registry, so that lists are on and hold these alone.
const served = handler ?? createHandler({ serve: agents, registry: new Registry(), production: true })
const server = await serve(served, { port: 0 })
console.log(`listening ${server.url}`)
