import { Agent, sequence, steps, Team, textOf, tool, Workflow } from 'servable'
import { appPage } from 'servable/mcp'
import { ToolServerManager } from 'servable/mcp-client'

/** The tool servers (MCP) that administrators add while the Worker runs. */
export const toolServers = new ToolServerManager()

/** Shows the number of words. */
const PAGE = `<!doctype html>
<html lang="en">
<meta name="color-scheme" content="light dark">
<title>Words</title>
<p style="font: 48px system-ui"></p>
<script>
const send = message => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
addEventListener('message', ({ source, data }) => {
  if (source !== parent) return
  if (data.id === 1) send({ method: 'ui/notifications/initialized' })
  if (data.method === 'ui/notifications/tool-result')
    document.querySelector('p').textContent = data.params.content[0].text
})
const appInfo = { name: 'words', version: '1' }
send({ id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26', appInfo, appCapabilities: {} } })
</script>
</html>`

export const wordCount = tool({
  name: 'word_count',
  description: 'Counts words',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  page: appPage({ uri: 'ui://words', html: PAGE }),
  execute: args => String(Object(args).text).split(/\s+/).length,
})

export const counter = new Agent({
  name: 'counter',
  description: 'Counts the words of its input',
  tools: [wordCount],
  corrections: true,
  async *run(input, { callTool }) {
    yield `${yield* callTool('word_count', { text: textOf(input) })} words`
  },
})

const upper = new Agent({ name: 'upper', run: input => textOf(input).toUpperCase() })

export const pair = new Team({
  name: 'pair',
  description: 'Counts the words of its input, written in capitals',
  members: [upper, counter],
  strategy: sequence,
})

export const initials = new Workflow({
  name: 'initials',
  description: 'Gives the first letters of the words of its input',
  steps: steps()
    .step('split', input => textOf(input).split(' '))
    .step('join', words => words.map(word => word.charAt(0)).join('')),
})
