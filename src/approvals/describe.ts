import type { Builders, BuiltInDescription } from '../core/builders.ts'

/** Tells of the route. */
export function describeApprovals(build: Builders): BuiltInDescription {
  const { at, page, parameter, ref, object, list, choice, event } = build
  const { text, maybeText, flag, moment } = build
  const kinds = { ...choice('approval', 'question', 'client_tool'), default: 'approval' }
  return {
    paths: {
      [at('approvals')]: {
        get: page(
          'runs',
          'listApprovals',
          'List what waits for a person, newest first',
          'ApprovalPage',
          [
            parameter('query', 'kind', 'What is asked for', kinds),
            parameter('query', 'whose', 'Of the caller, or of others what the caller may decide', {
              ...choice('mine', 'others'),
              default: 'mine',
            }),
          ],
          'InboxEvent',
        ),
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
