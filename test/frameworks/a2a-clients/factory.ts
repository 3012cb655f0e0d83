/** Clients of `@a2a-js/sdk`, which other clients are built on. */
import {
  type CallInterceptor,
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  createAuthenticatingFetchWithRetry,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import type { Place } from './way.ts'

export function factoryOf({ token, transport, taskId, contextId }: Place): ClientFactory {
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => (token === undefined ? {} : { authorization: `Bearer ${token}` }),
    shouldRetryWithHeaders: async () => undefined,
  } as Parameters<typeof createAuthenticatingFetchWithRetry>[1])
  const ids = { ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) }
  const named: CallInterceptor = {
    async before({ input }) {
      const params = input?.value
      if (params !== undefined && 'message' in params) Object.assign(params.message, ids)
    },
    async after() {},
  }
  return new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
      clientConfig: { interceptors: [named] },
      ...(transport && { preferredTransports: [transport] }),
    }),
  )
}

const clientOf = (place: Place): Promise<Client> => factoryOf(place).createFromUrl(place.url)

export async function cancel(place: Place, id: string): Promise<string> {
  return (await (await clientOf(place)).cancelTask({ id })).status.state
}
