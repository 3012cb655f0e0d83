import process from 'node:process'
import { Agent, OpenAIChatCompletionsModel, RunState, run, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { steeredHandler } from '../steered.ts'
import { weatherIn } from '../weather.ts'

const client = new OpenAI({ apiKey: 'given', baseURL: process.env.MODEL_URL })

export const handler = steeredHandler(steer => {
  const get_weather = tool({
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: z.object({ city: z.string() }),
    async execute({ city }) {
      await steer()
      return weatherIn(city)
    },
  })
  const refund = tool({
    name: 'refund',
    description: 'Gives money back',
    parameters: z.object({ order: z.string() }),
    needsApproval: true,
    execute: ({ order }) => `refunded ${order}`,
  })
  const model = new OpenAIChatCompletionsModel(client, 'test')
  return toAgent(new Agent({ name: 'steered', model, tools: [get_weather, refund] }), { run, RunState })
})
