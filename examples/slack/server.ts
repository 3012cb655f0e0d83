/** The service, the bot, and the address to which Slack sends what happens. */
import process from 'node:process'
import { createSlackAdapter } from '@chat-adapter/slack'
// Teams and Discord take two lines each, here and below:
// import { createTeamsAdapter } from '@chat-adapter/teams'
// import { createDiscordAdapter } from '@chat-adapter/discord'
import { Chat } from 'chat'
import { bearerAuth, createHandler } from 'servable'
import { approvals } from 'servable/approvals'
import { chatState } from 'servable/chat-state'
import { createClient } from 'servable/client'
import { serve } from 'servable/node'
import { sqliteState } from 'servable/sqlite'
import { desk } from './agent.ts'
import { answerMessages } from './answers.ts'
import { webhookOf } from './webhook.ts'

const { PORT = '3000', DATABASE = 'slack.db', APPROVERS = '' } = process.env

/** Only this process knows it: nobody else can call the service as somebody. */
const secret = crypto.randomUUID()
const approvers = new Set(APPROVERS.split(',').filter(Boolean))

const state = chatState()
const handler = createHandler({
  agents: { desk },
  middleware: [
    bearerAuth({
      verify(token) {
        if (!token.startsWith(`${secret}:`)) return undefined
        const id = token.slice(secret.length + 1)
        return { id, roles: approvers.has(id) ? ['approver'] : [] }
      },
    }),
  ],
  state: sqliteState({ path: DATABASE }),
  plugins: [state, approvals()],
  // Files of people come within JSON.
  limits: { maxBodyBytes: 20_971_520 },
  fallback: request => webhook(request),
})

const bot = new Chat({
  userName: 'desk',
  adapters: {
    // It reads SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET.
    slack: createSlackAdapter(),
    // teams: createTeamsAdapter(),
    // discord: createDiscordAdapter(),
  },
  state,
  concurrency: 'concurrent',
  logger: 'warn',
})
const webhook = webhookOf(bot)

await bot.initialize()
const stop = answerMessages({
  bot,
  state,
  agent: 'desk',
  clientOf: owner =>
    createClient({
      baseUrl: 'http://127.0.0.1/api',
      fetch: handler,
      headers: { authorization: `Bearer ${secret}:${owner}` },
    }),
})

const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)

process.once('SIGTERM', async () => {
  stop()
  await server.close({ graceMs: 30_000 })
  process.exit()
})
