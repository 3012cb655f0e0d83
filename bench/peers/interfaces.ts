/**
 * Mastra's interfaces of OpenAI, the AI SDK and MCP beside ours, with our agent and with Mastra's: `node bench/peers/interfaces.ts`.
 */

import { beside } from './beside.ts'
import { INPUT } from './echo.ts'
import { BY_MASTRA, MASTRA, RESPONSES } from './openai.ts'
import type { Ask, Peer } from './who.ts'

const SERVABLE = 'peers/servers/interfaces.ts'
const OUR_MASTRA = 'peers/frameworks/servable-mastra-interfaces.ts'
const THEIRS = 'peers/frameworks/mastra-interfaces.ts'

function chat(name: string, entry: string, path: string): Peer {
  const stream: Ask = {
    path,
    body: text => ({ id: 'chat', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text }] }] }),
  }
  return { name, entry, run: stream, stream, mark: '"text-delta"', answer: INPUT, only: 'streams' }
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A call of revision 2026-07-28, the only one that Mastra answers without a session. */
function call(name: string, entry: string, path: string, [tool, argument]: readonly [string, string]): Peer {
  const run: Ask = {
    path,
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': tool,
    },
    body: text => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: { [argument]: text }, _meta: META },
    }),
  }
  return { name, entry, run, stream: run, mark: '"content"', answer: INPUT, only: 'runs' }
}

const CHAT = chat('servable, AI SDK', SERVABLE, '/api/agents/echo/chat')
const CHAT_BY_MASTRA = chat("servable, AI SDK, Mastra's agent", OUR_MASTRA, '/api/agents/echo/chat')
const MASTRA_CHAT = chat('Mastra, AI SDK', THEIRS, '/chat/echo')
const MCP = call('servable, MCP', SERVABLE, '/mcp', ['echo', 'input'])
const MCP_BY_MASTRA = call("servable, MCP, Mastra's agent", OUR_MASTRA, '/mcp', ['echo', 'input'])
const MASTRA_MCP = call('Mastra, MCP', THEIRS, '/api/mcp/tools/mcp', ['ask_echo', 'message'])

export const INTERFACES: readonly Peer[] = [
  ...[RESPONSES, BY_MASTRA, MASTRA],
  ...[CHAT, CHAT_BY_MASTRA, MASTRA_CHAT],
  ...[MCP, MCP_BY_MASTRA, MASTRA_MCP],
]

const BESIDE = [
  [RESPONSES, MASTRA],
  [BY_MASTRA, MASTRA],
  [CHAT, MASTRA_CHAT],
  [CHAT_BY_MASTRA, MASTRA_CHAT],
  [MCP, MASTRA_MCP],
  [MCP_BY_MASTRA, MASTRA_MCP],
] as const

if (process.argv[1] === import.meta.filename) console.log(await beside(INTERFACES, BESIDE))
