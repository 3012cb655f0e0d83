import { tool } from 'servable'
import { ModelAgent } from 'servable/model-agent'
import { z } from 'zod'
import { model } from './model.ts'

const forecast = tool({
  name: 'forecast',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  // Ask a service for the weather here.
  execute: ({ city }) => `It is sunny in ${city}, and 18 °C.`,
})

export const assistant = new ModelAgent({
  name: 'assistant',
  description: 'Knows the weather',
  model,
  instructions: 'Answer in one sentence.',
  tools: [forecast],
  examples: ['What is the weather in Oslo?'],
})
