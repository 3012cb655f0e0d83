/** The service and its page. */
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { Agent, createHandler, ServableError, textOf, tool } from 'servable'
import { agUi } from 'servable/ag-ui'
import { aiSdkUi } from 'servable/ai-sdk-ui'
import { serve } from 'servable/node'
import { sessions } from 'servable/sessions'
import { sqliteState } from 'servable/sqlite'

/** A person decides on each call. */
const post = tool<{ readonly text: string }, string>({
  name: 'post',
  needsApproval: true,
  execute: ({ text }) => `Posted: ${text}`,
})

/** A placeholder for your agent. It repeats the input, word by word, and posts what comes after `post`. */
const parrot = new Agent({
  name: 'parrot',
  tools: [post],
  async *run(input, { signal, callTool }) {
    const text = textOf(input)
    if (text.startsWith('post ')) {
      try {
        yield yield* callTool(post, { text: text.slice('post '.length) })
      } catch (error) {
        if (!(error instanceof ServableError) || error.code !== 'approval_denied') throw error
        yield 'Not posted'
      }
      return
    }
    for (const word of text.split(/(?<= )/)) {
      if (signal.aborted) return
      yield word
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  },
})

const html = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>Chat</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/page.css">
  <div id="root"></div>
  <script type="module" src="/page.js"></script>
</html>`

/** The files of the page, by their paths. */
const TYPES: Readonly<Record<string, string>> = { '/page.js': 'text/javascript', '/page.css': 'text/css' }

const handler = createHandler({
  agents: { parrot },
  // One user. In production, find out who asks: with `bearerAuth`, `jwtAuth` or a session of your own.
  middleware: [
    (_, context, next) => {
      context.identity = { id: 'ada' }
      return next()
    },
  ],
  state: sqliteState({ path: process.env.DATABASE ?? 'chat.db' }),
  // An answer goes on when its page is gone.
  runs: { disconnect: 'continue' },
  plugins: [aiSdkUi({ resume: true }), agUi(), sessions()],
  async fallback(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/')
      return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } })
    const type = TYPES[pathname]
    if (type === undefined) return new Response('Not found', { status: 404 })
    const body = await readFile(new URL(`dist${pathname}`, import.meta.url))
    return new Response(body, { headers: { 'content-type': type } })
  },
})

const server = await serve(handler, { port: Number(process.env.PORT ?? 3000) })
console.log(`listening ${server.url}`)
