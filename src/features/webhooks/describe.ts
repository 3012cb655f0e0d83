import type { Builders, Description, OperationParts, Paths, Schema, Secured } from '../../core/builders.ts'
import { EVENTS, TEST } from './options.ts'
import { NewSecretSchema, NewWebhookSchema, WebhookChangeSchema } from './schemas.ts'

const TAG = 'webhooks'

/** Who may read the description of routes: callers, and administrators with their security. */
export interface WebhookReaders {
  readonly clients: boolean
  readonly admin: Secured | undefined
}

/** The OpenAPI description of the routes. */
export function describeWebhooks(build: Builders, { clients, admin }: WebhookReaders): Description {
  return {
    tags: [{ name: TAG, description: 'Who is told of runs' }],
    paths: {
      ...(clients && { ...ownPaths(build), ...deliveryPaths(build, 'webhooks', { suffix: '' }) }),
      ...(admin && {
        [build.at('admin/webhooks')]: {
          get: build.operation(
            'admin',
            'listAllWebhooks',
            'List the webhooks of the deployment and of clients',
            {
              ...admin,
              responses: { 200: answerOf(build, 'AnyWebhooks') },
              problems: [401, 403],
            },
          ),
        },
        ...deliveryPaths(build, 'admin/webhooks', { suffix: 'OfAny', tag: 'admin', secured: admin }),
      }),
    },
    schemas: schemasOf(build),
    ...(clients && {
      bodies: {
        NewWebhook: NewWebhookSchema,
        WebhookChange: WebhookChangeSchema,
        NewWebhookSecret: NewSecretSchema,
      },
    }),
  }
}

function answerOf({ answer, json, ref }: Builders, name: string): Schema {
  return answer('Done', json(ref(name)))
}

function idOf({ parameter }: Builders): Schema {
  return parameter('path', 'id', 'Id of the webhook')
}

function bodyOf({ json, ref }: Builders, name: string): Schema {
  return { required: true, content: json(ref(name)) }
}

function ownPaths(build: Builders): Paths {
  const { at, operation } = build
  const act = (operationId: string, summary: string, parts: OperationParts) =>
    operation(TAG, operationId, summary, {
      parameters: [idOf(build)],
      problems: [400, 401, 404, 413, 415],
      ...parts,
    })
  return {
    [at('webhooks')]: {
      get: operation(TAG, 'listWebhooks', 'List the webhooks of the caller', {
        responses: { 200: answerOf(build, 'Webhooks') },
        problems: [401, 404],
      }),
      post: operation(TAG, 'addWebhook', 'Subscribe to runs of the caller. The answer has the secret', {
        requestBody: bodyOf(build, 'NewWebhook'),
        responses: { 201: answerOf(build, 'WebhookWithSecret') },
        problems: [400, 401, 404, 409, 413, 415],
      }),
    },
    [at('webhooks/{id}')]: {
      get: act('getWebhook', 'Read a webhook', {
        responses: { 200: answerOf(build, 'Webhook') },
        problems: [401, 404],
      }),
      patch: act('changeWebhook', 'Change a webhook', {
        requestBody: bodyOf(build, 'WebhookChange'),
        responses: { 200: answerOf(build, 'Webhook') },
      }),
      delete: act('deleteWebhook', 'Delete a webhook with its deliveries', {
        responses: { 204: { description: 'Deleted' } },
        problems: [401, 404],
      }),
    },
    [at('webhooks/{id}/secret')]: {
      post: act('rotateWebhookSecret', 'Get a new secret. The one before signs for another day', {
        requestBody: bodyOf(build, 'NewWebhookSecret'),
        responses: { 200: answerOf(build, 'WebhookWithSecret') },
      }),
    },
  }
}

function deliveryPaths(
  build: Builders,
  path: string,
  {
    suffix,
    tag = TAG,
    secured,
  }: { readonly suffix: string; readonly tag?: string; readonly secured?: Secured },
): Paths {
  const { at, operation, page, parameter, choice, text } = build
  const id = idOf(build)
  const status = parameter('query', 'status', 'Only those', choice('pending', 'delivered', 'failed'))
  const type = parameter('query', 'type', 'Only those', choice(...EVENTS, TEST))
  const delivery = parameter('path', 'delivery', 'Id of the delivery')
  const send = (operationId: string, summary: string, parameters: readonly Schema[]) =>
    operation(tag, operationId + suffix, summary, {
      ...secured,
      parameters,
      responses: { 202: answerOf(build, 'WebhookDelivery') },
      problems: [401, ...(secured ? [403] : []), 404],
    })
  const webhook = parameter('query', 'webhook', 'Only those of this webhook', text)
  return {
    [at(`${path}/deliveries`)]: {
      get: {
        ...page(tag, `listAllDeliveries${suffix}`, 'List deliveries of all webhooks', 'WebhookDeliveryPage', [
          webhook,
          status,
          type,
        ]),
        ...secured,
      },
    },
    [at(`${path}/{id}/deliveries`)]: {
      get: {
        ...page(tag, `listDeliveries${suffix}`, 'List deliveries, newest first', 'WebhookDeliveryPage', [
          id,
          status,
          type,
        ]),
        ...secured,
      },
    },
    [at(`${path}/{id}/deliveries/{delivery}`)]: {
      get: operation(tag, `getDelivery${suffix}`, 'Read a delivery with what was sent', {
        ...secured,
        parameters: [id, delivery],
        responses: { 200: answerOf(build, 'WebhookDeliveryWithPayload') },
        problems: [401, ...(secured ? [403] : []), 404],
      }),
    },
    [at(`${path}/{id}/deliveries/{delivery}/replay`)]: {
      post: send('replayDelivery', 'Send a delivery again', [id, delivery]),
    },
    [at(`${path}/{id}/test`)]: { post: send('testWebhook', 'Send `webhook.test`', [id]) },
  }
}

function schemasOf({
  object,
  list,
  ref,
  choice,
  text,
  maybeText,
  flag,
  count,
  moment,
}: Builders): Record<string, Schema> {
  const webhook = {
    id: text,
    url: text,
    events: list(choice(...EVENTS)),
    'agents?': list(text),
    contents: flag,
    enabled: flag,
    'createdAt?': moment,
  }
  const delivery = {
    id: text,
    webhook: text,
    type: text,
    'runId?': text,
    status: choice('pending', 'delivered', 'failed'),
    tries: count,
    createdAt: moment,
    'lastTryAt?': moment,
    'nextTryAt?': moment,
    'responseStatus?': count,
    'error?': text,
    'code?': choice('interrupted'),
  }
  return {
    Webhook: object(webhook),
    Webhooks: object({ webhooks: list(ref('Webhook')) }),
    WebhookWithSecret: object({ ...webhook, secret: text }),
    AnyWebhooks: object({ webhooks: list(object({ ...webhook, owner: maybeText })) }),
    WebhookDelivery: object(delivery),
    WebhookDeliveryWithPayload: object({ ...delivery, 'payload?': { type: 'object' } }),
    WebhookDeliveryPage: object({ deliveries: list(ref('WebhookDelivery')), nextCursor: maybeText }),
  }
}
