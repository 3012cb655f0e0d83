import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { Agent, createHandler, textOf } from 'servable'
import { serve } from 'servable/node'

/** A placeholder for your agent. It repeats the input, word by word. */
const parrot = new Agent({
  name: 'parrot',
  description: 'Says it back',
  async *run(input, { signal }) {
    for (const word of textOf(input).split(/(?<= )/)) {
      if (signal.aborted) return
      yield word
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  },
})

/** The files of the page, by their paths. */
const FILES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/client.js': ['client.js', 'text/javascript'],
}

const handler = createHandler({
  agents: { parrot },
  // Answers every path that the service does not have.
  async fallback(request) {
    const [file, type] = FILES[new URL(request.url).pathname] ?? []
    if (file === undefined || type === undefined) return new Response('Not found', { status: 404 })
    const body = await readFile(new URL(file, import.meta.url))
    return new Response(body, { headers: { 'content-type': type } })
  },
})

const server = await serve(handler, { port: Number(process.env.PORT ?? 3000) })
console.log(`listening ${server.url}`)
