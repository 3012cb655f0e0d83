import { env } from 'cloudflare:workers'
import { createHandler } from 'servable'
import { approvals } from 'servable/approvals'
import { durableObjects, durableState, scheduled, worker } from 'servable/cloudflare'
import { webConsole } from 'servable/console'
import { sessions } from 'servable/sessions'
import { assistant } from './agents.ts'

const { LOOPBACK } = env as { readonly LOOPBACK?: string }

const handler = createHandler({
  serve: [assistant],
  state: durableState(),
  // Say here who may call, before you deploy: https://www.npmjs.com/package/servable tells how.
  middleware: [],
  plugins: [sessions(), approvals(), webConsole()],
  // `npm run dev` listens on this machine alone, and says so: the console knows its callers by this header.
  ...(LOOPBACK && { trustProxy: 'cf-connecting-ip' }),
})

export default { fetch: worker(handler), scheduled: scheduled(handler) }

export const { ServableRun, ServableIndex } = durableObjects(handler)
