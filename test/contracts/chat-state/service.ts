/** The service of the contract of chat-state: one call of the adapter a request. */

import { createHandler, type Handler, type Plugin, type State } from '../../../src/core-entry.ts'
import { chatState } from '../../../src/features/chat-state/plugin.ts'
import { isServableError } from '../../../src/protocols/encoders/index.ts'

interface Call {
  readonly method: string
  readonly args: readonly unknown[]
}

/** What stands for `undefined`, which is no JSON. */
const UNDEFINED = 'undefined'

/** The handler of the service. */
export function handlerOn(state: State): Handler {
  const chat = chatState()
  const methods = chat as unknown as Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>
  const calls: Plugin = {
    name: 'calls',
    mount: () => ({
      routes: [
        {
          method: 'POST',
          path: '/calls',
          scope: 'run',
          async endpoint(request) {
            const { method, args }: Call = await request.json()
            try {
              const given = args.map(arg => (arg === UNDEFINED ? undefined : arg))
              return Response.json({ value: (await methods[method]?.(...given)) ?? null })
            } catch (error) {
              if (isServableError(error)) return Response.json({ code: error.code })
              throw error
            }
          },
        },
      ],
    }),
  }
  return createHandler({ registry: false, state, logger: false, plugins: [chat, calls] })
}
