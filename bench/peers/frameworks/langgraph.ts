/** LangGraph's JavaScript server as `langgraphjs dev` starts it, in a folder that is thrown away. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { startServer } from '@langchain/langgraph-api/server'

const cwd = mkdtempSync(join(tmpdir(), 'servable-langgraph-'))
process.on('exit', () => rmSync(cwd, { recursive: true, force: true }))
const graph = `${new URL('langgraph-graph.ts', import.meta.url).pathname}:graph`
// A worker takes one run at a time. `langgraphjs dev` has 10.
const nWorkers = Number(process.env.WORKERS ?? 10)
const { host } = await startServer({ port: 0, host: '127.0.0.1', cwd, nWorkers, graphs: { echo: graph } })
console.log(`listening http://${host}`)
