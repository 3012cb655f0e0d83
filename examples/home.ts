import type { Middleware } from '../src/index.ts'

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>servable</title>
<style>body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>servable</h1>
<p>The examples are served. Where things are:</p>
<ul>
  <li><a href="/api/console">The console</a>, to chat with the agents and see what they do
  <li><a href="/api/docs">The documentation</a>, to try things out
  <li><a href="/api">Everything that is mounted</a>, as JSON
  <li><a href="/api/agents">Agents</a>, <a href="/api/teams">teams</a> and <a href="/api/workflows">workflows</a>
  <li><a href="/.well-known/agent-card.json">The agent card</a>; A2A takes <code>POST /</code>
  <li><a href="/api/metrics">Metrics</a> and <a href="/api/health">health</a>
  <li><a href="/api/ndjson/counts">Runs as NDJSON</a>, by a plugin: <code>POST /api/agents/echo/ndjson</code>
  <li>An agent that asks: <code>POST /api/agents/tailor/run</code>, then <code>POST /api/runs/:id/answers</code>
  <li>With USER_TOKEN in <code>.dev.vars</code>, and <code>Authorization: Bearer …</code>: your sessions at
    <code>/api/sessions</code>, and what waits for you at <code>/api/approvals</code>
  <li>Chats of the AI SDK: <code>useChat</code> with the <code>api</code> <code>/api/agents/echo/chat</code>
  <li><a href="/v1/models">Models</a> for clients of OpenAI's interface: the base URL is <code>/v1</code>
  <li>Tools for clients of MCP at <code>/mcp</code>:
    <code>claude mcp add --transport http servable http://localhost:8787/mcp</code>
  <li>Socket.IO and plain WebSockets at <code>/socket.io/</code>
</ul>
<pre>curl -N localhost:8787/api/agents/summarizer/stream -H 'content-type: application/json' -d '{"input":"…"}'</pre>
</html>
`

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
}

/** Middleware with a front page. It is needed because `/` belongs to A2A, which has no `GET` there. */
export const home: Middleware = (request, _, next) => {
  const isHome = new URL(request.url).pathname === '/' && /^(GET|HEAD)$/.test(request.method)
  return isHome ? new Response(PAGE, { headers: HEADERS }) : next()
}
