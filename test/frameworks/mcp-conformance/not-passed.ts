/** The checks of the official conformance suite that the service does not pass, by revision, and what they need. */

/** What is not offered, and why. */
const NOT_OFFERED = {
  // Deprecated since 2026-07-28: SEP-2577.
  sampling: "It is deprecated since 2026-07-28. Agents ask people, and never the client's model.",
  roots: "They are deprecated since 2026-07-28. Agents do not ask for the client's files.",
}

type NotOffered = keyof typeof NOT_OFFERED

/** What checks need, by scenario and check. */
type NotPassed = Readonly<Record<string, Readonly<Record<string, NotOffered>>>>

const legacy: NotPassed = { 'tools-call-sampling': { 'tools-call-sampling': 'sampling' } }

/** What of each revision is not passed. Of 2025-03-26 the suite checks nothing: stock clients prove it. */
export const NOT_PASSED: Readonly<Record<string, NotPassed>> = {
  '2026-07-28': {
    'input-required-result-basic-sampling': { 'sep-2322-sampling-incomplete': 'sampling' },
    'input-required-result-basic-list-roots': { 'sep-2322-list-roots-incomplete': 'roots' },
    'input-required-result-multiple-input-requests': { 'sep-2322-multiple-inputs-incomplete': 'sampling' },
    'input-required-result-capability-check': { 'sep-2322-respect-client-capabilities': 'sampling' },
    // Its tool needs a client with sampling.
    'server-stateless': {
      'sep-2575-server-rejects-undeclared-capability': 'sampling',
      'sep-2575-missing-capability-http-400': 'sampling',
    },
  },
  '2025-11-25': legacy,
  '2025-06-18': legacy,
}
