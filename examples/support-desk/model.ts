import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { scriptedModel } from 'servable/test'

const script = scriptedModel(({ text, tools, results: [result] }) => {
  if (result !== undefined) return String(result.output)
  const [order = 'A1'] = /[A-Z]\d+/.exec(text) ?? []
  const member = /return/i.test(text) ? 'ask_returns' : 'ask_orders'
  const isTeam = tools.some(({ name }) => name === member)
  const call = isTeam ? { name: member, input: { input: text } } : { name: 'order_status', input: { order } }
  return { toolCalls: [call] }
})

const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL = 'https://api.openai.com/v1' } = process.env
export const model = apiKey
  ? createOpenAICompatible({ name: 'openai', baseURL, apiKey })('gpt-5-mini')
  : script
