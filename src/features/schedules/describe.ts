import type { Builders, BuiltInDescription, Operation } from '../../core/builders.ts'

/** The OpenAPI description of the routes. */
export function describeSchedules(build: Builders): BuiltInDescription {
  const { at, answer, json, operation, page, parameter, ref, object, list, choice } = build
  const { text, maybeText, flag, moment } = build
  const tag = 'schedules'
  const name = parameter('path', 'name', 'Name of the schedule')
  const maybe = (schema: object) => ({ ...schema, nullable: true })
  const act = (operationId: string, summary: string): Operation =>
    operation(tag, operationId, summary, {
      parameters: [name],
      responses: { 200: answer('The schedule', json(ref('Schedule'))) },
      problems: [401, 403, 404],
    })
  return {
    tags: [{ name: tag, description: 'Runs by the clock' }],
    paths: {
      [at('schedules')]: {
        get: page(tag, 'listSchedules', 'List schedules, in the order of the code', 'SchedulePage', []),
      },
      [at('schedules/{name}')]: { get: act('getSchedule', 'Read a schedule') },
      [at('schedules/{name}/pause')]: { post: act('pauseSchedule', 'Let a schedule start no runs') },
      [at('schedules/{name}/resume')]: {
        post: act('resumeSchedule', 'Let it start runs again, from now on'),
      },
      [at('schedules/{name}/run')]: {
        post: operation(tag, 'runSchedule', 'Start a run of a schedule now', {
          parameters: [
            name,
            parameter('header', 'Idempotency-Key', 'The same key again finds the run that it has started'),
          ],
          responses: { 202: answer('The run', json(object({ schedule: text, runId: text }))) },
          problems: [401, 403, 404, 429],
        }),
      },
    },
    schemas: {
      Schedule: object({
        name: text,
        cron: text,
        timezone: text,
        target: object({ kind: choice('agent', 'team', 'workflow'), name: text }),
        owner: text,
        sessionId: maybeText,
        missed: choice('run', 'skip'),
        isPaused: flag,
        nextTickAt: maybe(moment),
        lastRun: maybe(object({ id: text, tickAt: moment, status: maybeText })),
        lastError: maybe(object({ code: text, message: text, at: moment })),
      }),
      SchedulePage: object({ schedules: list(ref('Schedule')), nextCursor: maybeText }),
    },
  }
}
