import type { Middleware } from '../src/index.ts'

/** Paths after a method are to be asked by a program. What is below `id="user"` or `id="admin"` needs the token of that name. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>servable</title>
<style>:root { color-scheme: light dark }
body { font: 14px/22px system-ui, sans-serif; max-width: 44rem; margin: 48px auto; padding: 0 16px;
  background: light-dark(#fff, #191917); color: light-dark(#1b1a17, #eeece7) }
a { color: light-dark(#2450c0, #93b1ff) }
pre { overflow-x: auto }</style>
<main>
<h1>servable</h1>
<p>The example agents are served. They work offline.</p>
<pre>curl -N localhost:8787/api/agents/summarizer/stream -H 'content-type: application/json' -d '{"input":"…"}'</pre>
<section>
<h2>Begin here</h2>
<ul>
  <li><a href="/api/console">The console</a>: chat with the agents, and see what they do. It is off in production
  <li><a href="/api/docs">The documentation</a>: every route, to try out; and its <a href="/api/docs/spec.json">OpenAPI document</a>
  <li><a href="/api">Everything that is mounted</a>, as JSON
  <li><a href="/api/agents">Agents</a>, <a href="/api/teams">teams</a>, <a href="/api/workflows">workflows</a>
    and <a href="/api/tools">tools</a>
  <li><a href="/api/health">Health</a>
</ul>
</section>
<section>
<h2>Run agents</h2>
<ul>
  <li>HTTP: <code>POST /api/agents/echo/run</code> answers with JSON, <code>POST /api/agents/echo/stream</code> with events.
    Both take files as a form
  <li>In the background: with <code>"background": true</code> the run is stored, and waits in a queue when many are at work.
    <code>GET /api/runs/:id</code> reads it
  <li>An agent that asks: <code>POST /api/agents/tailor/run</code>, then <code>POST /api/runs/:id/answers</code>
  <li>Guards: <code>echo</code> is told <code>[address]</code> in place of an email address
  <li><a href="/.well-known/agent-card.json">The agent card</a> of A2A, which takes <code>POST /</code>
  <li>MCP: <code>POST /mcp</code>, or <code>claude mcp add --transport http servable http://localhost:8787/mcp</code>
  <li><a href="/v1/models">Models</a> for programs that speak OpenAI's interface, such as
    <code>POST /v1/chat/completions</code> and <code>POST /v1/responses</code>
  <li>AG-UI: <code>POST /api/agents/echo/ag-ui</code>
  <li>Chats of the AI SDK: <code>POST /api/agents/echo/chat</code> is the <code>api</code> of <code>useChat</code>
  <li><a href="/socket.io/?EIO=4&transport=polling">The event socket</a>, for Socket.IO and plain WebSockets
  <li>A plugin of your own: <code>POST /api/agents/echo/ndjson</code> answers in lines, and
    <a href="/api/ndjson/counts">its counts</a> say how often each agent was asked so
</ul>
</section>
<section>
<h2>Look at it</h2>
<ul>
  <li><a href="/api/metrics">Metrics</a> for Prometheus, and <a href="/api/metrics/json">as JSON</a>
  <li><a href="/api/budgets">Budgets</a>: what you have spent today
  <li>The audit log: who did what, in the log of the server
  <li>Traces: the variable <code>OTEL_TRACES_EXPORTER=console</code> shows them in the log,
    <code>OTEL_EXPORTER_OTLP_ENDPOINT</code> sends them to a collector
</ul>
</section>
<section id="admin">
<h2>Operate it</h2>
<p>These answer this machine alone. With <code>ADMIN_TOKEN=…</code> in <code>.dev.vars</code> or the environment, they answer whoever
  sends that as <code>Authorization: Bearer …</code>.</p>
<ul>
  <li><a href="/api/keys">Keys</a> for callers: <code>POST /api/keys</code> gives one to <code>{"owner", "name", "scopes"}</code>
  <li><a href="/api/schedules">Schedules</a>: runs that start by the clock
  <li><a href="/api/budgets/all">All budgets</a>
  <li>Only with the token: tool servers at <code>GET /api/admin/mcp</code>, toolkits at <code>GET /api/admin/toolkits</code>,
    and all webhooks at <code>GET /api/admin/webhooks</code>
</ul>
</section>
<section id="user">
<h2>Be somebody</h2>
<p>With a key, or with <code>USER_TOKEN=…</code> in <code>.dev.vars</code> or the environment, and <code>Authorization: Bearer …</code>,
  you have:</p>
<ul>
  <li>sessions, which agents remember: <code>GET /api/sessions</code>
  <li>what waits for your decision: <code>GET /api/approvals</code>
  <li>your runs: <code>GET /api/runs</code>
  <li>webhooks that tell of your runs: <code>GET /api/webhooks</code>
  <li>files that agents made for you, below <code>/api/runs/:id/artifacts</code>
</ul>
</section>
</main>
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
