/**
 * One remote service, called with the official client.
 *
 * @module
 */

import type { Message, StreamResponse, Task } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client'
import type { ChosenInterface } from './choose.ts'
import { failed } from './failure.ts'
import type { RemoteFetch } from './fetch.ts'
import type { RemoteSettings } from './options.ts'

/** One answer of a remote agent: a task, a message, or a change of the task. */
export type Payload = NonNullable<StreamResponse['payload']>

/** A remote service. Every method rejects with the error of the client or the fetch. */
export interface RemoteService {
  readonly hasStreams: boolean
  /** How many requests were sent so far. */
  sent(): number
  /** The secrets that were sent so far. The list is a new one once there are more secrets. */
  secrets(): readonly string[]
  /** Sends a message. Resolves with the task as it is now, or with a message. */
  send(message: Message, signal: AbortSignal): Promise<Payload>
  /** Sends a message and yields the answers. */
  stream(message: Message, signal: AbortSignal): AsyncGenerator<Payload>
  subscribe(id: string, signal: AbortSignal): AsyncGenerator<Payload>
  get(id: string, signal: AbortSignal): Promise<Task>
  cancel(id: string, signal: AbortSignal): Promise<void>
  /** The newest tasks of a context, with their messages. Rejects if the service cannot list tasks, as in 0.3. */
  list(contextId: string, signal: AbortSignal): Promise<readonly Task[]>
}

/** Most tasks, and most messages of each, in a list. */
const LISTED = 100

/** Opens the service at the chosen address. */
export async function openService(
  { url, binding, version, tenant: named = '', hasStreams }: ChosenInterface,
  { tenant = named, extensions }: RemoteSettings,
  fetch: RemoteFetch,
): Promise<RemoteService> {
  const fetchImpl = answering(fetch)
  const common = { fetchImpl, legacyCompat: { enabled: true } }
  const transports = [new JsonRpcTransportFactory(common), new RestTransportFactory(common)]
  const factory = new ClientFactory({ transports })
  // The client gets only these members of the card.
  const client: Client = await factory.createFromAgentCard({
    ...EMPTY_CARD,
    supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version, tenant }],
    capabilities: { streaming: hasStreams, extensions: [] },
  })
  const serviceParameters =
    extensions.length > 0 ? ServiceParameters.create(withA2AExtensions(...extensions)) : {}
  const withSignal = (signal: AbortSignal) => ({ signal, serviceParameters })
  const request = (message: Message, returnImmediately: boolean) => ({
    tenant,
    message,
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    metadata: undefined,
  })
  return {
    hasStreams,
    sent: fetch.sent,
    secrets: fetch.secrets,
    async send(message, signal) {
      const answer = await client.sendMessage(request(message, true), withSignal(signal))
      return 'messageId' in answer ? { $case: 'message', value: answer } : { $case: 'task', value: answer }
    },
    stream: (message, signal) =>
      payloadsOf(client.sendMessageStream(request(message, false), withSignal(signal))),
    subscribe: (id, signal) => payloadsOf(client.resubscribeTask({ tenant, id }, withSignal(signal))),
    get: (id, signal) => client.getTask({ tenant, id }, withSignal(signal)),
    async cancel(id, signal) {
      await client.cancelTask({ tenant, id, metadata: undefined }, withSignal(signal))
    },
    async list(contextId, signal) {
      const listed = { pageSize: LISTED, pageToken: '', historyLength: LISTED, includeArtifacts: false }
      const filter = { contextId, status: ANY_STATE, statusTimestampAfter: undefined }
      return (await client.listTasks({ tenant, ...filter, ...listed }, withSignal(signal))).tasks
    },
  }
}

/** Refuses answers that are neither A2A nor one of its errors. The client would repeat their whole body in its error. */
function answering(fetch: RemoteFetch): typeof globalThis.fetch {
  const call = async (url: string | URL, init?: RequestInit) => {
    const response = await fetch(url, init)
    const { status, ok, headers } = response
    const isRefused = status === 401 || status === 403
    if (ok || (!isRefused && headers.get('content-type')?.includes('json'))) return response
    throw failed(
      isRefused
        ? `The remote agent answered ${status}: it needs other credentials, which \`headers\` gives`
        : `The remote agent answered ${status}`,
    )
  }
  return call as typeof globalThis.fetch
}

/** `TASK_STATE_UNSPECIFIED`. Importing the package's own enum would bundle half of the package. */
const ANY_STATE = 0

const EMPTY_CARD = {
  name: '',
  description: '',
  version: '',
  provider: undefined,
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  signatures: [],
}

async function* payloadsOf(responses: AsyncIterable<StreamResponse>): AsyncGenerator<Payload> {
  for await (const { payload } of responses) if (payload !== undefined) yield payload
}
