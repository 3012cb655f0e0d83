/** Mastra's server with its Hono adapter, set up as in its README. */

import { serve } from '@hono/node-server'
import { Mastra } from '@mastra/core/mastra'
import { type HonoBindings, type HonoVariables, MastraServer } from '@mastra/hono'
import { Hono } from 'hono'
import { agent } from './mastra-agent.ts'

const app = new Hono<{ Bindings: HonoBindings; Variables: HonoVariables }>()
const mastra = new Mastra({ agents: { echo: agent }, logger: false })
await new MastraServer({ app, mastra }).init()
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening http://127.0.0.1:${port}`)
})
