import { scriptedModel } from 'servable/test'

/**
 * A model without a network and a key, for the team and its members: it plays through what each of them does. Put a real model in its
 * place. With one of OpenAI, after `npm install @ai-sdk/openai` and with your key in the variable OPENAI_API_KEY, this file is two lines:
 *
 *   import { openai } from '@ai-sdk/openai'
 *   export const model = openai('gpt-5-mini')
 */
export const model = scriptedModel(({ text, results, tools: [tool] }) => {
  const order = /\d+/.exec(text)?.[0]
  if (order === undefined) return 'Which order? Ask me: Please refund order 7'
  const calls = {
    look_up: [{ name: 'look_up', input: { order } }],
    refund: [{ name: 'refund', input: { order, euros: 40 } }],
    ask_clerk: [
      { name: 'ask_clerk', input: { input: `What is order ${order}?` } },
      { name: 'ask_cashier', input: { input: `Refund order ${order}` } },
    ],
  }[tool?.name ?? '']
  const next = calls?.[results.length]
  return next === undefined ? results.map(({ output }) => String(output)).join(' ') : { toolCalls: [next] }
})
