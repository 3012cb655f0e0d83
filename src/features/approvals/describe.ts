import type { Builders, Description } from '../../core/builders.ts'

/** The OpenAPI description of the routes. */
export function describeApprovals(build: Builders): Description {
  const { at, page, parameter, ref, object, list, choice, event, operation, answer, json } = build
  const { text, maybeText, flag, moment } = build
  const kinds = { ...choice('approval', 'question', 'client_tool'), default: 'approval' }
  const about = {
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
  }
  const messages = object({
    role: choice('user', 'assistant'),
    content: { oneOf: [text, list(ref('ContentPart'))] },
  })
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
      [at('approvals/{id}')]: {
        get: operation(
          'runs',
          'getApproval',
          'Get what a run or task asks, what was said before, and who decided',
          {
            parameters: [parameter('path', 'id', 'Id of the run or task')],
            responses: { 200: answer('What it asks', json(ref('ApprovalDetail'))) },
            problems: [401, 403, 404, 503],
          },
        ),
      },
    },
    schemas: {
      WaitingRequest: object({ request: ref('InputRequest'), ...about }),
      ApprovalDetail: object({
        ...about,
        requests: list(ref('InputRequest')),
        answered: { ...list({ type: 'object' }), description: 'Who answered which requests' },
        'continuedBy?': { ...text, description: 'The run that goes on, for its owner' },
        deciders: { ...list(choice('owner', 'role', 'authorized')), description: 'Who may decide' },
        messages: { ...list(messages), description: 'What was said before, oldest first' },
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
