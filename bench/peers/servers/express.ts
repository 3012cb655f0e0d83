/** A typical hand-written server: express for runs and streams, socket.io for both, a map of agents. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Server } from 'socket.io'
import { echo } from '../echo.ts'

const agents = new Map([['echo', echo]])
const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }

const app = express()
app.use(express.json({ limit: '1mb' }))
app.use('/api/agents/:name', (request, response, next) => {
  if (!agents.has(request.params.name)) return response.status(404).json({ error: 'No such agent' })
  if (typeof request.body?.input !== 'string') return response.status(400).json({ error: 'No input' })
  return next()
})
app.post('/api/agents/:name/run', async (request, response) => {
  const startedAt = performance.now()
  let text = ''
  for await (const piece of agents.get(request.params.name)!(request.body.input)) text += piece
  const durationMs = performance.now() - startedAt
  const runId = crypto.randomUUID()
  response.json({ text, toolCalls: [], usage, structured: null, durationMs, finishReason: 'stop', runId })
})
app.post('/api/agents/:name/stream', async (request, response) => {
  response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache', connection: 'keep-alive' })
  response.flushHeaders()
  let id = 0
  const say = (event: object) => response.write(`id: ${++id}\ndata: ${JSON.stringify(event)}\n\n`)
  for await (const text of agents.get(request.params.name)!(request.body.input)) say({ type: 'text', text })
  say({ type: 'finish', finishReason: 'stop' })
  response.end()
})

const server = createServer(app)
new Server(server).of('/service').on('connection', socket => {
  socket.on('agent.run', async ({ name, input }, answer) => {
    const runId = crypto.randomUUID()
    answer({ runId })
    let text = ''
    for await (const chunk of agents.get(name)!(input)) {
      text += chunk
      socket.emit('agent.chunk', { runId, chunk })
    }
    socket.emit('agent.done', { runId, output: { text }, usage, finishReason: 'stop' })
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
