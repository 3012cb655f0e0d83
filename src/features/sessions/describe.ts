import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import type { Builders, Description, Operations, Schema } from '../../core/builders.ts'
import { FeedbackSchema } from './feedback.ts'
import { ForkSchema, NewSessionSchema, UpdateSchema } from './schemas.ts'

const TAG = 'sessions'

/** The OpenAPI description of the routes. */
export function describeSessions(build: Builders): Description {
  const { at, operation, page, parameter, answer, json, ref, searchTerm } = build
  const session = json(ref('SessionSummary'))
  const body = (name: string): Schema => ({ required: true, content: json(ref(name)) })
  const kind = parameter('query', 'kind', 'Only of this kind', build.choice(...KINDS))
  const name = parameter('query', 'name', 'Only of what has this name')
  return {
    tags: [{ name: TAG, description: 'Conversations of the caller' }],
    paths: {
      [at('sessions')]: {
        get: page(TAG, 'listSessions', 'List sessions, newest first', 'SessionPage', [
          kind,
          name,
          parameter('query', 'search', 'Sessions whose title contains this', searchTerm),
        ]),
        post: operation(TAG, 'createSession', 'Begin a session with an id that nobody can guess', {
          requestBody: body('NewSession'),
          responses: { 201: answer('The session', session) },
          problems: [400, 401, 404, 413, 415, 429, 503],
        }),
      },
      [at('sessions/export')]: {
        get: operation(TAG, 'exportSessions', 'Export turns with their feedback, a line of JSON each', {
          parameters: [
            kind,
            name,
            parameter('query', 'since', 'Only turns that began then or later: ISO 8601, or milliseconds'),
          ],
          responses: { 200: answer('The turns', { 'application/x-ndjson': { schema: { type: 'string' } } }) },
          problems: [400, 401, 404, 503],
        }),
      },
      [at('users/me')]: {
        delete: operation(TAG, 'deleteUser', 'Delete all that is kept of the caller', {
          parameters: [runningOf(build)],
          responses: { 204: { description: 'Nothing is left' } },
          problems: [400, 401, 404, 409, 503],
        }),
      },
      [at('tenants/{tenant}')]: {
        delete: operation(TAG, 'deleteTenant', 'Delete all that is kept of some users of a tenant', {
          parameters: [parameter('path', 'tenant', 'The tenant'), runningOf(build)],
          responses: {
            200: answer('How many users that were. Repeat it until it is done', json(ref('TenantDeletion'))),
          },
          problems: [400, 401, 404, 409, 503],
        }),
      },
      [at('runs/{id}/feedback')]: feedbackOf(build),
      ...Object.assign({}, ...KINDS.map(each => pathsOf(each, build))),
    },
    bodies: {
      FeedbackBody: FeedbackSchema,
      NewSession: NewSessionSchema,
      SessionUpdate: UpdateSchema,
      SessionFork: ForkSchema,
    },
    schemas: schemasOf(build),
  }
}

function runningOf({ parameter, choice }: Builders): Schema {
  return parameter('query', 'running', 'Cancels runs at work, which are refused otherwise', choice('cancel'))
}

function feedbackOf(build: Builders): Operations {
  const { operation, parameter, answer, json, ref, choice, text } = build
  const runId = parameter('path', 'id', 'Id of the run', { type: 'string', format: 'uuid' })
  const feedback = { 200: answer('What was said of the run', json(ref('Feedback'))) }
  return {
    post: operation(TAG, 'addFeedback', 'Say what a run that has ended was worth', {
      parameters: [runId],
      requestBody: { required: true, content: json(ref('FeedbackBody')) },
      responses: feedback,
      problems: [400, 401, 404, 409, 413, 415, 429, 503],
    }),
    get: operation(TAG, 'getFeedback', 'Get what was said of a run', {
      parameters: [
        runId,
        parameter('query', 'sessionId', 'The session of a plain run', text),
        parameter('query', 'kind', 'Whose session it is', { ...choice(...KINDS), default: 'agent' }),
        parameter('query', 'name', 'Its name', text),
        parameter('query', 'none', 'Answers 204 instead of 404 if nobody has said anything', choice('empty')),
      ],
      responses: { ...feedback, 204: { description: 'Nobody has said anything' } },
      problems: [400, 401, 404, 409, 503],
    }),
  }
}

/** The routes of the sessions of one kind. */
function pathsOf(kind: Kind, build: Builders): Readonly<Record<string, Operations>> {
  const { at, operation, page, parameter, answer, json, ref, nameOf } = build
  const session = json(ref('SessionSummary'))
  const own = [nameOf(kind), parameter('path', 'id', 'Id of the session')]
  const path = at(`${kind}s/{name}/sessions/{id}`)
  const named = (text: string) => text.replace('Session', `${kind[0]?.toUpperCase()}${kind.slice(1)}Session`)
  const changing = (name: string) => ({
    parameters: own,
    requestBody: { required: true, content: json(ref(name)) },
    problems: [400, 401, 404, 413, 415, 429, 503],
  })
  return {
    [path]: {
      get: operation(TAG, named('getSession'), `Get a session of the ${kind}`, {
        parameters: own,
        responses: { 200: answer('The session', session) },
        problems: [401, 404, 503],
      }),
      delete: operation(
        TAG,
        named('deleteSession'),
        `Delete a session of the ${kind} with all that is of it`,
        {
          parameters: [...own, runningOf(build)],
          responses: { 204: { description: 'Nothing is left' } },
          problems: [400, 401, 404, 409, 503],
        },
      ),
      patch: operation(
        TAG,
        named('updateSession'),
        `Set the title of a session of the ${kind}, or which branch counts`,
        {
          ...changing('SessionUpdate'),
          responses: { 200: answer('The session', session) },
          problems: [400, 401, 404, 409, 413, 415, 429, 503],
        },
      ),
    },
    [`${path}/messages`]: {
      get: page(TAG, named('listSessionTurns'), 'List the turns of a branch, newest first', 'TurnPage', [
        ...own,
        parameter('query', 'branch', 'The run of a turn of the branch. Default: the branch that counts'),
      ]),
    },
    [`${path}/branches`]: {
      get: operation(TAG, named('listSessionBranches'), 'List the branches of a session', {
        parameters: own,
        responses: { 200: answer('The branches', json(ref('SessionBranches'))) },
        problems: [401, 404, 503],
      }),
    },
    [`${path}/branches/{runId}`]: {
      delete: operation(
        TAG,
        named('deleteSessionBranch'),
        'Delete a turn of a session and all after it, with their runs and files',
        {
          parameters: [...own, parameter('path', 'runId', 'The run of the turn')],
          responses: { 204: { description: 'Nothing of them is left' } },
          problems: [401, 404, 409, 503],
        },
      ),
    },
    [`${path}/fork`]: {
      post: operation(TAG, named('forkSession'), 'Copy turns into a new session', {
        ...changing('SessionFork'),
        responses: { 201: answer('The new session', session) },
        problems: [400, 401, 404, 409, 413, 415, 429, 503],
      }),
    },
  }
}

function schemasOf({ object, list, ref, choice, text, maybeText, flag, count, moment }: Builders) {
  const kind = choice(...KINDS)
  const said = { 'score?': { type: 'number' }, 'text?': text, 'correction?': text, updatedAt: moment }
  const call = object({ toolCallId: text, toolName: text })
  return {
    SessionSummary: object({
      ...{ id: text, kind, name: text, title: maybeText, lastMessage: maybeText, count },
      ...{ createdAt: moment, updatedAt: moment, 'isRunning?': flag },
    }),
    TenantDeletion: object({ owners: count, isDone: flag }),
    Feedback: object({ runId: text, ...said }),
    TurnFeedback: object(said),
    SessionPage: object({ sessions: list(ref('SessionSummary')), nextCursor: maybeText }),
    Turn: object({
      ...{ runId: text, kind, name: text, 'messageId?': text, 'continuedFrom?': text },
      'steered?': list(
        object({
          runId: text,
          messageId: text,
          'userId?': text,
          input: { oneOf: [text, list(ref('ContentPart'))] },
          at: count,
        }),
      ),
      input: { oneOf: [text, list(ref('ContentPart'))] },
      ...{ 'text?': text, 'toolCalls?': list(call), 'finishReason?': text, 'error?': text },
      status: choice('running', 'completed', 'cut', 'failed', 'interrupted'),
      ...{ at: count, 'endedAt?': count, 'alternatives?': list(text), 'feedback?': ref('TurnFeedback') },
    }),
    SessionBranches: object({
      branches: list(
        object({
          ...{ runId: text, branchFrom: maybeText, count, lastMessage: maybeText },
          ...{ updatedAt: moment, 'isHead?': flag },
        }),
      ),
    }),
    TurnPage: object({ turns: list(ref('Turn')), nextCursor: maybeText }),
  }
}
