/** The service: the agent, its threads and its runs. */
import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { bearerAuth, createHandler, tool } from 'servable'
import { agUi } from 'servable/ag-ui'
import { ModelAgent } from 'servable/model-agent'
import { serve } from 'servable/node'
import { sessions } from 'servable/sessions'
import { sqliteState } from 'servable/sqlite'

const {
  OPENAI_BASE_URL = 'https://api.openai.com/v1',
  OPENAI_API_KEY = '',
  MODEL = 'gpt-5-mini',
  DATABASE = 'copilotkit.db',
  PAGE_ORIGIN = 'http://127.0.0.1:3000',
  PORT = '3001',
} = process.env

const refund = tool({
  name: 'refund',
  description: 'Pays the price of an order back',
  parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  needsApproval: true,
  execute: args => `The price of ${(args as { readonly order: string }).order} was paid back`,
})

const desk = new ModelAgent({
  name: 'desk',
  description: 'Helps with orders',
  model: createOpenAICompatible({ name: 'openai', baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY })(MODEL),
  instructions: 'You help with orders, in one or two sentences. You may set the color of the page.',
  tools: [refund],
})

const handler = createHandler({
  agents: { desk },
  // Two users. In production take tokens from your secrets, or check them with `bearerAuth({ verify })`.
  middleware: [bearerAuth({ tokens: { 'token-of-ada': 'ada', 'token-of-bob': 'bob' } })],
  state: sqliteState({ path: DATABASE }),
  // A run goes on when its page is gone, or the runtime.
  runs: { disconnect: 'continue' },
  plugins: [agUi(), sessions()],
  // The page reads the list of threads from here.
  cors: [PAGE_ORIGIN],
})

const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
