/** The service of the tests of the console. Every runtime serves it with a state of its own: open to this machine, or guarded. */
import * as examples from '../../../examples/agents.ts'
import { approvals } from '../../../src/approvals/plugin.ts'
import { webConsole } from '../../../src/console/plugin.ts'
import { files } from '../../../src/files/plugin.ts'
import {
  bearerAuth,
  createHandler,
  type Handler,
  type HandlerOptions,
  MetricsExporter,
  type Middleware,
  Registry,
  type State,
} from '../../../src/index.ts'
import { sessions } from '../../../src/sessions/plugin.ts'
import { agents } from './agents.ts'

const TOKENS = { 'token-of-ada': 'ada', 'token-of-bob': 'bob' }

/** Everyone on this machine is `dev`. */
const identified: Middleware = (_, context, next) => {
  context.identity = { id: 'dev' }
  return next()
}

/** `open`: for everyone on this machine. `guarded`: for `ada` and `bob`, who have tokens. `unstored`: without stored runs. */
export function consoleHandler(settings = 'open', state?: State): Handler {
  const isGuarded = settings === 'guarded'
  if (settings === 'unstored') {
    return createHandler({
      serve: [...agents],
      registry: new Registry(),
      production: false,
      runs: { store: 'none' },
      plugins: [webConsole()],
    })
  }
  const options: HandlerOptions = {
    serve: [...Object.values(examples), ...agents],
    registry: new Registry(),
    ...(state && { state }),
    production: isGuarded,
    middleware: [isGuarded ? bearerAuth({ tokens: TOKENS }) : identified],
    runs: { keepInput: true, measure: true, store: 'all', disconnect: 'continue' },
    fileUpload: true,
    a2a: { default: 'echo' },
    metricsExporter: new MetricsExporter({ history: true }),
    toolkits: [{ name: 'arithmetic', description: 'Sums and products', tools: examples.calculator.tools }],
    plugins: [
      files(),
      sessions(),
      approvals(),
      webConsole(isGuarded ? { authenticate: (_, identity) => identity, title: 'Agents & <friends>' } : {}),
    ],
  }
  return createHandler(options)
}
