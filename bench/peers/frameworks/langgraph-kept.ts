/** LangGraph's JavaScript server as `langgraphjs dev` starts it, whose files are in a folder that the caller names. */

import process from 'node:process'
import { startServer } from '@langchain/langgraph-api/server'
import { INPUT, type KeptShape } from '../../kept-shapes.ts'

const path = new URL('langgraph-kept-graphs.ts', import.meta.url).pathname
const graphs = Object.fromEntries(['speaks', 'steps', 'calls'].map(name => [name, `${path}:${name}`]))
const { host } = await startServer({
  ...{ port: 0, host: '127.0.0.1', cwd: process.argv[2] ?? '.', nWorkers: 10, graphs },
})

async function asked(path: string, body: unknown): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`http://${host}${path}`, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

process.on('message', async (shape: KeptShape) => {
  const { thread_id: thread } = JSON.parse(await asked('/threads', {}))
  const begin = performance.now()
  const messages = [{ role: 'user', content: INPUT }]
  const outcome = await asked(`/threads/${thread}/runs/stream`, {
    assistant_id: { pieces: 'speaks', steps: 'steps', tools: 'calls' }[shape],
    input: shape === 'steps' ? { text: INPUT } : { messages },
    stream_mode: [shape === 'pieces' ? 'messages-tuple' : 'updates'],
    // A graph may make 25 steps by default.
    config: { recursion_limit: 200 },
  })
  process.send?.({ ms: performance.now() - begin, outcome: outcome.slice(-300) })
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
