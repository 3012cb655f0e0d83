import { createHandler } from 'servable'
import { aiSdkUi } from 'servable/ai-sdk-ui'
import { approvals } from 'servable/approvals'
import { webConsole } from 'servable/console'
import { sessions } from 'servable/sessions'
import { sqliteState } from 'servable/sqlite'
import { assistant } from './agents.ts'

export const handler = createHandler({
  serve: [assistant],
  state: sqliteState({ path: process.env.DATABASE ?? 'agents.db' }),
  // Say here who may call, before you deploy: https://www.npmjs.com/package/servable tells how.
  middleware: [],
  plugins: [aiSdkUi(), sessions(), approvals(), webConsole()],
})
