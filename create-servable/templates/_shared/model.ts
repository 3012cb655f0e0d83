import { scriptedModel } from 'servable/test'

/**
 * A model without a network and a key: it asks for the forecast of a city, and says it. Put a real model in its place. With one of
 * OpenAI, after `npm install @ai-sdk/openai` and with your key in the variable OPENAI_API_KEY, this file is two lines:
 *
 *   import { openai } from '@ai-sdk/openai'
 *   export const model = openai('gpt-5-mini')
 */
export const model = scriptedModel(({ text, results: [forecast] }) => {
  if (forecast !== undefined) return String(forecast.output)
  const [, city] = /\bin (\p{L}+)/u.exec(text) ?? []
  if (city === undefined) return 'I know the weather. Ask me: What is the weather in Oslo?'
  return { toolCalls: [{ name: 'forecast', input: { city } }] }
})
