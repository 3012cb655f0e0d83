// The fixture as a function, behind a function URL in the same process. Lambda has a process for each request at work; here one has all.
import { createServer } from 'node:http'
import process from 'node:process'
import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { lambda } from '../../../src/runtimes/lambda.ts'
import { handler } from '../../contracts/fixture.ts'
import { listening } from '../../listening.ts'
import { AnswerStream, awslambda } from '../lambda/awslambda.ts'
import { eventOf, responder } from '../lambda/function-url.ts'

Object.assign(globalThis, { awslambda })
const answer = lambda(handler)

/** Milliseconds that Lambda gives a call at most. */
const LIMIT_MS = 15 * 60 * 1000

const server = createServer(async (request, response) => {
  const { write, end } = responder(response)
  const to = new Writable({
    write(bytes, _, done) {
      // A client that has left takes all: Lambda does not tell the function.
      if (write(bytes) || response.destroyed) done()
      else response.once('drain', done)
    },
    final(done) {
      end()
      done()
    },
  })
  const until = Date.now() + LIMIT_MS
  const context = { getRemainingTimeInMillis: () => until - Date.now() }
  try {
    await answer(await eventOf(request), new AnswerStream(to), context)
    await finished(to)
  } catch {
    response.destroy()
  }
})
const { url } = await listening(server, Number(process.env.PORT))
console.log(`listening ${url}`)
