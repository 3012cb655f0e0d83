/** The checks of the official conformance suite that a server of tools does not pass, by revision, and what they need. */

/** What is not offered, and why. */
const NOT_OFFERED = {
  resources: 'The service offers tools. What it knows is asked of its agents, and files are in results.',
  prompts: 'The service offers tools.',
  completion: 'It completes the arguments of prompts and resources, which are not offered.',
  // Deprecated since 2026-07-28: SEP-2577.
  logging: 'It is deprecated since 2026-07-28. Progress tells what a call does.',
  sampling: "It is deprecated since 2026-07-28. Agents ask people, and never the client's model.",
  roots: "They are deprecated since 2026-07-28. Agents do not ask for the client's files.",
}

type NotOffered = keyof typeof NOT_OFFERED

/** What checks need, by scenario and check. */
type NotPassed = Readonly<Record<string, Readonly<Record<string, NotOffered>>>>

/** Scenarios whose one check that fails has their name. */
const named = (need: NotOffered, ...scenarios: readonly string[]): NotPassed =>
  Object.fromEntries(scenarios.map(scenario => [scenario, { [scenario]: need }]))

const inEachRevision: NotPassed = {
  ...named('completion', 'completion-complete'),
  ...named(
    'resources',
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
  ),
  ...named(
    'prompts',
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ),
}

const legacy: NotPassed = {
  ...inEachRevision,
  ...named('logging', 'logging-set-level', 'tools-call-with-logging'),
  ...named('sampling', 'tools-call-sampling'),
  ...named('resources', 'resources-subscribe', 'resources-unsubscribe'),
}

/** What of each revision is not passed. Of 2025-03-26 the suite checks nothing: stock clients prove it. */
export const NOT_PASSED: Readonly<Record<string, NotPassed>> = {
  '2026-07-28': {
    ...inEachRevision,
    caching: {
      'sep-2549-resources-list-caching-hints': 'resources',
      'sep-2549-resources-templates-list-caching-hints': 'resources',
      'sep-2549-prompts-list-caching-hints': 'prompts',
    },
    'input-required-result-basic-sampling': { 'sep-2322-sampling-incomplete': 'sampling' },
    'input-required-result-basic-list-roots': { 'sep-2322-list-roots-incomplete': 'roots' },
    'input-required-result-multiple-input-requests': { 'sep-2322-multiple-inputs-incomplete': 'sampling' },
    'input-required-result-capability-check': { 'sep-2322-respect-client-capabilities': 'sampling' },
    'input-required-result-non-tool-request': { 'sep-2322-non-tool-incomplete': 'prompts' },
    // Its tool needs a client with sampling.
    'server-stateless': {
      'sep-2575-server-rejects-undeclared-capability': 'sampling',
      'sep-2575-missing-capability-http-400': 'sampling',
    },
  },
  '2025-11-25': legacy,
  '2025-06-18': legacy,
}
