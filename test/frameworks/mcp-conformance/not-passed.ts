/** The checks of the official conformance suite that a server of tools does not pass, by revision, and why. */

/** The reasons of checks, by scenario and check. */
export type NotPassed = Readonly<Record<string, Readonly<Record<string, string>>>>

const RESOURCES = 'Resources are not offered.'
const PROMPTS = 'Prompts are not offered.'
const COMPLETION = 'Completion is not offered: it is for prompts and resources.'
// Deprecated since 2026-07-28: SEP-2577.
const LOGGING = 'Logging is not offered, and deprecated since 2026-07-28.'
const SAMPLING = "Agents ask people, never the client's model. Sampling is deprecated since 2026-07-28."
const ROOTS = "Agents do not ask for the client's files. Roots are deprecated since 2026-07-28."

/** Scenarios whose one check that fails has their name. */
const named = (reason: string, ...scenarios: readonly string[]): NotPassed =>
  Object.fromEntries(scenarios.map(scenario => [scenario, { [scenario]: reason }]))

const inEachRevision: NotPassed = {
  ...named(COMPLETION, 'completion-complete'),
  ...named(
    RESOURCES,
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
  ),
  ...named(
    PROMPTS,
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ),
}

const legacy: NotPassed = {
  ...inEachRevision,
  ...named(LOGGING, 'logging-set-level', 'tools-call-with-logging'),
  ...named(SAMPLING, 'tools-call-sampling'),
  ...named(RESOURCES, 'resources-subscribe', 'resources-unsubscribe'),
}

/** What of each revision is not passed. Of 2025-03-26 the suite checks nothing: its clients do. */
export const NOT_PASSED: Readonly<Record<string, NotPassed>> = {
  '2026-07-28': {
    ...inEachRevision,
    caching: {
      'sep-2549-resources-list-caching-hints': RESOURCES,
      'sep-2549-resources-templates-list-caching-hints': RESOURCES,
      'sep-2549-prompts-list-caching-hints': PROMPTS,
    },
    'input-required-result-basic-sampling': { 'sep-2322-sampling-incomplete': SAMPLING },
    'input-required-result-basic-list-roots': { 'sep-2322-list-roots-incomplete': ROOTS },
    'input-required-result-multiple-input-requests': { 'sep-2322-multiple-inputs-incomplete': SAMPLING },
    'input-required-result-capability-check': { 'sep-2322-respect-client-capabilities': SAMPLING },
    'input-required-result-non-tool-request': { 'sep-2322-non-tool-incomplete': PROMPTS },
    // Its tool needs a client with sampling.
    'server-stateless': {
      'sep-2575-server-rejects-undeclared-capability': SAMPLING,
      'sep-2575-missing-capability-http-400': SAMPLING,
    },
  },
  '2025-11-25': legacy,
  '2025-06-18': legacy,
}
