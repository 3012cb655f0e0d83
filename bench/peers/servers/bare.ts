/** `node:http` alone. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runByHand, streamByHand } from '../bare.ts'

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { input } = JSON.parse(body)
  if (request.url?.endsWith('/run')) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(await runByHand(input))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for await (const message of streamByHand(input)) response.write(message)
  response.end()
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
