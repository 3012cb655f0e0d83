import type { Builders, Description, OperationParts, Paths, Schema } from '../../core/builders.ts'

const TAG = 'keys'

/** Describes the routes for the OpenAPI document. */
export function describeKeys(build: Builders): Description {
  return {
    tags: [{ name: TAG, description: 'Keys for callers' }],
    paths: pathsOf(build),
    schemas: schemasOf(build),
  }
}

function pathsOf({ at, operation, page, answer, json, parameter, ref }: Builders): Paths {
  const id = [parameter('path', 'id', 'Id of the key')]
  const key = { 200: answer('The key', json(ref('CallerKey'))) }
  const issued = (description: string) => answer(description, json(ref('IssuedKey')))
  const body = (name: string, example?: unknown): Schema => ({
    required: true,
    content: json(ref(name), example),
  })
  const act = (operationId: string, summary: string, parts: OperationParts) =>
    operation(TAG, operationId, summary, { parameters: id, ...parts })
  const example = { owner: 'ada', name: 'laptop', scopes: ['run'], rate: { max: 100 } }
  return {
    [at('keys')]: {
      get: page(TAG, 'listKeys', 'List keys, newest first', 'CallerKeyPage', [
        parameter('query', 'owner', 'Only keys of this owner'),
      ]),
      post: operation(TAG, 'issueKey', 'Issue a key, which is shown this once', {
        requestBody: body('KeyBody', example),
        responses: { 201: issued('The key') },
        problems: [400, 401, 403, 409, 413, 415, 503],
      }),
    },
    [at('keys/{id}')]: {
      get: act('getKey', 'Read what is known of a key', { responses: key, problems: [401, 403, 404, 503] }),
      patch: act('changeKey', 'Change the name, scopes, expiry or rate of a key', {
        requestBody: body('KeyChange'),
        responses: key,
        problems: [400, 401, 403, 404, 409, 413, 415, 503],
      }),
      delete: act('revokeKey', 'Revoke a key', { responses: key, problems: [401, 403, 404, 503] }),
    },
    [at('keys/{id}/rotate')]: {
      post: act('rotateKey', 'Replace the secret of a key', {
        requestBody: body('KeyRotation'),
        responses: { 200: issued('The new key') },
        problems: [400, 401, 403, 404, 409, 413, 415, 503],
      }),
    },
  }
}

function schemasOf(build: Builders): Record<string, Schema> {
  const { list, ref, object, text, maybeText, count, moment } = build
  const maybeMoment = { ...moment, nullable: true }
  const rate = object({ max: count, windowMs: count }, 'Most requests in a window of so many milliseconds')
  const name = { ...text, maxLength: 100 }
  const scopes = {
    ...list(text),
    minItems: 1,
    description: '`read`, `run`, `all`, `agent:NAME`, `team:NAME`, `workflow:NAME`, or one of the deployment',
  }
  const roles = {
    ...list(text),
    description: '`viewer`, `approver`, `operator`, `admin`, or one of the deployment',
  }
  const asked = object({ max: count, 'windowMs?': { ...count, default: 60_000 } })
  const ofKey = {
    id: text,
    owner: text,
    name,
    scopes,
    roles,
    rate: { ...rate, nullable: true },
    createdAt: moment,
    expiresAt: maybeMoment,
    lastUsedAt: { ...maybeMoment, description: 'At most an hour old' },
    rotatedAt: maybeMoment,
    revokedAt: maybeMoment,
  }
  return {
    KeyBody: object({
      owner: {
        ...text,
        maxLength: 256,
        description: 'The id of the identity that requests with the key have',
      },
      name,
      scopes,
      'roles?': roles,
      'expiresAt?': moment,
      'rate?': asked,
    }),
    KeyChange: object({
      'name?': name,
      'scopes?': scopes,
      'roles?': roles,
      'expiresAt?': maybeMoment,
      'rate?': { ...asked, nullable: true },
    }),
    KeyRotation: object({
      'graceMs?': { ...count, default: 0, description: 'Milliseconds for which the old secret stays good' },
    }),
    CallerKey: object(ofKey),
    IssuedKey: object({ key: text, ...ofKey }),
    CallerKeyPage: object({ keys: list(ref('CallerKey')), nextCursor: maybeText }),
  }
}
