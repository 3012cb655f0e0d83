/** The stock server with its defaults, on Node and on Bun: it repeats every event. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from 'socket.io'
import { collect } from './socket-gc.ts'

const http = createServer((request, response) => {
  response.end(request.url === '/gc' ? collect() : 'not found')
})
new Server(http).on('connection', socket => {
  socket.onAny((event: string, ...args: unknown[]) => socket.emit(event, ...args))
})
http.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`listening http://127.0.0.1:${(http.address() as AddressInfo).port}`)
})
