import process from 'node:process'
import { bearerAuth, type HandlerOptions } from 'servable'
import { approvals } from 'servable/approvals'
import { sessions } from 'servable/sessions'
import { webhooks } from 'servable/webhooks'

const eve = { id: 'eve', roles: ['approver'] }
const tokens = { 'token-of-ada': 'ada', 'token-of-bob': 'bob', 'token-of-eve': eve }

const secret = process.env.WEBHOOK_SECRET ?? ''
const ours = { id: 'ours', url: 'http://127.0.0.1:4000/', agents: ['team/desk'], secret }
// Only a receiver on this machine needs `allow`.
const told = webhooks({ subscriptions: [ours], allow: ['127.0.0.1'] })

export default {
  middleware: [bearerAuth({ tokens })],
  plugins: [approvals({ authorize: () => false }), sessions(), told],
} satisfies HandlerOptions
