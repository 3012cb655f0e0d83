import type { Builders, BuiltInDescription } from '../core/builders.ts'

/** Tells of the route. */
export function describeApprovals(build: Builders): BuiltInDescription {
  const { at, operation, answer, json, eventStream, parameter, ref, object, list, choice, event } = build
  const { text, maybeText, flag, moment } = build
  const kinds = { ...choice('approval', 'question', 'client_tool'), default: 'approval' }
  return {
    paths: {
      [at('approvals')]: {
        get: operation('runs', 'listApprovals', 'List what waits for a person, newest first', {
          parameters: [
            parameter('query', 'kind', 'What is asked for', kinds),
            parameter('query', 'whose', 'Of the caller, or of others what the caller may decide', {
              ...choice('mine', 'others'),
              default: 'mine',
            }),
            parameter('query', 'cursor', 'The `nextCursor` of the page before'),
            parameter('query', 'limit', 'Most runs of a page', {
              type: 'integer',
              minimum: 1,
              maximum: 100,
              default: 50,
            }),
          ],
          responses: {
            200: answer('A page, or server-sent events: each `data` is an InboxEvent', {
              ...json(ref('ApprovalPage')),
              ...eventStream(ref('InboxEvent')),
            }),
          },
          problems: [400, 401, 404, 429, 503],
        }),
      },
    },
    schemas: {
      WaitingRequest: object({
        request: ref('InputRequest'),
        run: object({
          id: text,
          kind: choice('agent', 'team', 'workflow'),
          name: text,
          'sessionId?': text,
          'userId?': text,
          'owner?': maybeText,
          'isTask?': flag,
        }),
        createdAt: moment,
        'expiresAt?': moment,
      }),
      ApprovalPage: object({ approvals: list(ref('WaitingRequest')), nextCursor: maybeText }),
      InboxEvent: {
        oneOf: [
          event('all', { approvals: list(ref('WaitingRequest')), hasMore: flag }),
          event('added', { approval: ref('WaitingRequest') }),
          event('removed', { id: text }),
        ],
      },
    },
  }
}
