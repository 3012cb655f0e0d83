import { createHandler, type Middleware } from 'servable'
import { aiSdkUi } from 'servable/ai-sdk-ui'
import { approvals } from 'servable/approvals'
import { webConsole } from 'servable/console'
import { sessions } from 'servable/sessions'
import { sqliteState } from 'servable/sqlite'
import { assistant } from './agents.ts'

/** Say here who may call, before you deploy. `npm run dev` listens on this machine alone, so its callers are you. */
const callers: Middleware = (_, context, next) => {
  if (process.env.NODE_ENV === 'development') context.identity = { id: 'developer', roles: ['admin'] }
  return next()
}

export const handler = createHandler({
  serve: [assistant],
  state: sqliteState({ path: process.env.DATABASE ?? 'agents.db' }),
  middleware: [callers],
  plugins: [aiSdkUi(), sessions(), approvals(), webConsole({ authenticate: (_, identity) => identity })],
})
