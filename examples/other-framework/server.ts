import process from 'node:process'
import { createHandler } from 'servable'
import { toAgent } from 'servable/adapters'
import { serve } from 'servable/node'
import { makeWeather } from './weather.ts'

const weather = toAgent(makeWeather(), {
  description: 'Tells the weather',
  // A client that sends a key of its own pays for its own run.
  forRun: ({ apiKey }) => apiKey && makeWeather(apiKey),
})

const server = await serve(createHandler({ serve: [weather], a2a: true }), {
  port: Number(process.env.PORT ?? 3000),
})
console.log(`listening ${server.url}`)
